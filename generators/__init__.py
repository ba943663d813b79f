"""What two consumers draw: documents, updates, tables, events and streams, sound and damaged, from a small ``Draw``."""
