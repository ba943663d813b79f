cimport cython
from conformance.reference.cursor cimport Cursor


cpdef decode_body(code, data, tables)

cpdef read_body(code, cursor, tables)
