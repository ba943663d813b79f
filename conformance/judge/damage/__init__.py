"""Verdicts about input that no source writes: damaged events, diverged documents, and the crashes that follow."""
