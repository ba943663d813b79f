"""LOB31 where a change of the primary key has passed a large object on to the new record (innodb-lob 8.4).

Small changes of such a document are not taken back by 9.7.4, which is a listed difference. The Cases are SQL, so that
each is a script for a bug report. A server that takes them back passes.
"""
