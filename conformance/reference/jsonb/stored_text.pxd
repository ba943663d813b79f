cimport cython
from conformance.reference.jsonb.decode cimport container_header, decode, decode_scalar, last_key_end
from conformance.reference.jsonb.leaves cimport Pieces, double_at
from conformance.reference.jsonb.text cimport format_double, format_text

cdef int DOUBLE, INT16, INT32, LARGE_ARRAY, LARGE_OBJECT, LITERAL, MAX_DEPTH, STRING, UINT16, UINT32, LONG

@cython.locals(pieces=Pieces)
cpdef str document_text(bytes data)

@cython.locals(
    count=Py_ssize_t, values=Py_ssize_t, values_end=Py_ssize_t, at=Py_ssize_t, stop=Py_ssize_t,
    place=Py_ssize_t, entry_kind=int, offset=Py_ssize_t, large=int, word=int, width=int, top=Py_ssize_t,
    octets="const unsigned char *",
)
cdef bint _container(
    bytes data, int kind, Py_ssize_t start, Py_ssize_t end, int room, list budget, Pieces pieces
) except -1

cdef tuple _latest

@cython.locals(
    place=Py_ssize_t, same=int, entries=bytes, names=bytes, last=Py_ssize_t, known=tuple, prefixes=list, found=list
)
cdef list _prefixes(
    bytes data, int kind, Py_ssize_t start, Py_ssize_t end, Py_ssize_t values, Py_ssize_t values_end, list budget
)
