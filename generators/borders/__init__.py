"""What statements aim at: borders of sizes, formats, names and comparisons, and the size limit of events."""
