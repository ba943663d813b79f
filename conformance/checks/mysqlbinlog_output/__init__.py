"""FR7: the pseudo-SQL of ``mysqlbinlog -v`` holds every diff of an update.

The room runs the real client on captured updates, reads its text back, and runs that text on a server.
"""
