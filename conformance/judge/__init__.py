"""Pure functions from a Case, its prediction and an observation to verdicts; what two experiments share.

No pytest, no I/O.
"""
