"""The lab as a source: a small server that logs clients in, answers their questions, and sends them binary logs.

It speaks MySQL's protocol from the server's side on 127.0.0.1, and has no database: what a log says about its tables is
all that it knows. PyPI's mysql-mimic was tried for this and left: it knows neither caching_sha2_password nor the dump
commands, ends a command at a part without bytes, and brings an SQL parser of 0.8 MB. The standard library's sqlite3
answers the clients' questions instead.
"""
