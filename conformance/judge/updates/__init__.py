"""Verdicts about the log of updates, byte for byte: expected events, comparison, rules for borrowed fields."""
