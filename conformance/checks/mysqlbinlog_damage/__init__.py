"""P9: ``mysqlbinlog -v`` names damage in an event, lives, and prints the event behind it.

The room gives the real client files with damaged diffs and damaged values.
"""
