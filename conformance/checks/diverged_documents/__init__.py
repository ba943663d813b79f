"""FR5: events meet documents that they were not made for, and damaged events and files meet any document.

BINLOG statements give the events to a server, and relay logs written by hand give them to an applier.
"""
