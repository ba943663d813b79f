"""Binary log events in both directions, byte for byte (docs/spec/binlog-events.md)."""
