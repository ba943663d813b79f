"""Values of every column type, read from the log alone (WL#4618, scenario 3)."""
