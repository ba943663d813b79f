"""Cases promoted from findings: every run judges each once more, under its requirement.

The files stand in ``harness/promoted_cases``, or in the user's own directory of Cases.
"""
