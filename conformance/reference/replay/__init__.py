"""Tables from a binary log alone: row events and DDL, replayed from an empty state."""
