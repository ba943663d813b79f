"""Smaller Cases that still show the same failure."""
