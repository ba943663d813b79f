"""A8, A9, A10 and FR2: an applier whose replica differs from its source in its tables or its settings."""
