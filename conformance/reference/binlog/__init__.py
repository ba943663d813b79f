"""Binary log events in both directions, byte for byte (binlog-events sheet)."""
