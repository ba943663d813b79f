"""A second implementation, on purpose, the obvious way: documents, diffs, their application, rows, and functions.

Everything here is written from docs/spec alone, slow, and as short as it can be. It shares nothing with the reference
but the Python types of JSON values, so a mistake must be made twice to stay unseen. Only oracles import it: the fuzz
targets, and tests. :mod:`pieces` reads bytes from front to back, so what was read, laid end to end, is the input.

``documents`` jsonb 1 to 3; ``paths`` partial-update 4.1; ``diffs`` partial-update 4; ``applier`` partial-update 6.2;
``columns`` binlog-events 9.1 and 10.2; ``table_metadata`` binlog-events 9 and table-map-metadata 2 and 3; ``rows``
binlog-events 10 and 11; ``terms`` jsonb 4.1; ``functions`` and ``expressions`` partial-update 2.
"""
