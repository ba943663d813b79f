"""Logs printed: as mysqlbinlog prints them, or as a line for each row change, by one process or several."""
