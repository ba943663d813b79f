"""Partial updates of JSON documents (WL#2955): paths, diffs, in-place updates, what an UPDATE logs, how a replica
applies the diffs (docs/spec/partial-update.md).
"""
