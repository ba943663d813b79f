"""What TABLE_MAP says about a table, and the variable ``binlog_row_metadata`` (WL#4618)."""
