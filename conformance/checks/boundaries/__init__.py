"""Transaction boundaries (WL#4162): marked streams, broken streams, and the parser that servers shipped."""
