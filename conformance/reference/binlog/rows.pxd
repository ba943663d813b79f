from conformance.reference.cursor cimport Cursor

cpdef read_rows_event(int code, Cursor cursor, tables)
