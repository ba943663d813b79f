"""A sound server in surroundings that are not: a clock that steps, a machine that is busy.

``python -m tests.surroundings`` compares the verdicts with those of quiet runs.
"""
