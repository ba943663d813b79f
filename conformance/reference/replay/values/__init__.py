"""Values that the log does not have and DDL determines: converted ones, defaults, results of expressions."""
