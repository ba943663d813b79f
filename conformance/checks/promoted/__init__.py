"""Cases that were promoted from findings: every run judges them once more, under the requirement of each.

The files stand in ``harness/promoted_cases``, or in the user's own directory of Cases.
"""
