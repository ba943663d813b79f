"""The variable ``binlog_row_value_options``: values, scopes, privileges, hint, start-up, and warnings 1 to 3."""
