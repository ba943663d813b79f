cimport cython
from conformance.reference.cursor cimport Cursor

@cython.locals(rows=object)
cpdef object read_rows_event(int code, Cursor cursor, object tables)
cpdef object table_map_of(head)
cdef object _decoded(event, list fill, starts)
