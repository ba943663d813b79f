from conformance.reference.binlog.rows cimport read_rows_event
from conformance.reference.cursor cimport Cursor

cpdef object decode_body(int code, data, tables)
cpdef object read_body(int code, Cursor cursor, tables)
