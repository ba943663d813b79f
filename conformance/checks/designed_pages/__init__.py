"""Sentences of WL#7053 and of the article that shipped otherwise, as pages of files show.

SDI4, SDI6, SDI10, SDI28, SDI30, SDI31, SDI33, LOB19, LOB24, LOB25. Each is a listed difference.
The Cases are SQL, so that a witness needs no reader of data files: LOAD_FILE gives the file, and SUBSTR the field. A
server that does as written passes.
"""
