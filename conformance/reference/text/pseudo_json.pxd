cimport cython

from conformance.reference.jsonb.decode cimport decode
from conformance.reference.jsonb.stored_text cimport document_text as stored_text
from conformance.reference.jsonb.text cimport format_text
from conformance.reference.partial.diffs cimport split_diffs

cdef int LARGE_ARRAY, DECIMAL

cpdef bytes quoted(bytes data)
cdef bytes _bytes(str text)
cpdef bytes document_text(data)
cdef bytes _plain(value)
cdef bytes _function(diff)
@cython.locals(diffs=list, runs=list, out=list, left=Py_ssize_t, last=Py_ssize_t, place=Py_ssize_t)
cpdef bytes diffs_text(value, bytes column)
cdef bytes _value_text(bytes data)
