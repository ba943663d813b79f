"""FR3: a server that is fed the output of ``mysqlbinlog`` makes the same changes.

The room replays generated updates on a second server, and compares the tables of both as text and as stored bytes.
"""
