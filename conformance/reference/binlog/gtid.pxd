cimport cython
from conformance.reference.cursor cimport Cursor

cpdef object read_gtid(int code, Cursor cursor)
