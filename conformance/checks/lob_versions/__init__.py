"""LOB11 and LOB20 to LOB31: what updates of large JSON documents do to a data file, and which versions stay readable.

The room runs generated updates on a server that eight transactions with older snapshots watch. It reads the data file
after each step. Every version must be the same document for three witnesses: the session with that snapshot, the data
file with the undo log, and the image in the binary log. The file may change in the predicted bytes only.
"""
