"""BEFORE UPDATE triggers on JSON columns (D13, D15), nesting near its limit (IP3), and partitions (F3)."""
