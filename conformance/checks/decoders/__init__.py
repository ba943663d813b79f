"""Decoders: the suite of logs with the row changes in them, and the check that holds a subject's answers against it."""
