"""A8, A9, A10 and FR2: an applier whose replica is not like its source, because of its tables or of its settings."""
