"""Generators of binlog-lab, for two or more consumers: documents, updates, tables, events and streams, sound and
damaged, from a small ``Draw``."""
