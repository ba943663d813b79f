"""Clients that are cut off at every place of a log, and come back with the position or GTIDs that they stored."""
