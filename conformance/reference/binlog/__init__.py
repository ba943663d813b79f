"""Binary log events in both directions, byte for byte: one module for each family of events, and files of them
(docs/spec/binlog-events.md)."""
