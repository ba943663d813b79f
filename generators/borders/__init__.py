"""Borders that statements aim at: of sizes, formats, names and comparisons, and the size limit of events."""
