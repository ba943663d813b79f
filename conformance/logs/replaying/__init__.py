"""Logs replayed: the final tables printed, compared with data files, and SQL that takes transactions back."""
