"""WL#7053 as it was designed: two copies of the dictionary information in each tablespace (innodb-sdi A).

What shipped differs: one copy, its root in page 0, no flush at commit (innodb-sdi B.1). The module ``sdi`` beside this
package reads that. This package models the worklog: ``pages`` what stands in the file and how an offline tool reads it;
``storage`` buffer pool, redo log, flush and crash; ``tree`` the changes of a B-tree; ``transactions`` undo, rollback,
purge and recovery; ``calls`` the API by its names; ``usage`` the worklog's example of a change.

Pages are values, not bytes, and small, so that few objects make a deep tree. Every moment at which the machine can
stop is a call of :attr:`Storage.watch`.
"""
