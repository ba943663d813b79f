"""FR3: the output of ``mysqlbinlog`` makes the same changes on another server.

The room replays generated updates on a second server, and compares the tables of both as text and as stored bytes.
"""
