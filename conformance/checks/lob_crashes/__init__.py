"""LOB11, LOB21, LOB31: a server is killed inside large transactions that update documents in place.

Sessions change documents of 1 to 600 KB in every row format; then SIGKILL. The data files are read as they are, before
recovery. After it, the binary log is the witness: every acknowledged commit is in it, and every document of the server
and of its files is the last one logged. What an unfinished transaction touched is as before.
"""
