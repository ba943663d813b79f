"""LOB5 to LOB21, LOB24: what the article on large objects says of documents and pages, on files of a real server.

The room stores documents, copies the table's data file, and holds it against facts from elsewhere: the binary log,
INFORMATION_SCHEMA, and the bytes and fields that the article draws. It also has the check of a replica's file (FR6.2).
"""
