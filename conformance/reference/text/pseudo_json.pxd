cimport cython

from conformance.reference.jsonb.stored_text cimport document_text as stored_text

cdef int LARGE_ARRAY, DECIMAL

cpdef bytes quoted(bytes data)
cdef bytes _bytes(str text)
cpdef bytes document_text(data)
cdef bytes _plain(value)
cdef bytes _function(diff)
@cython.locals(column=bytes, diffs=list, runs=list, out=list, left=Py_ssize_t, last=Py_ssize_t, place=Py_ssize_t)
cpdef bytes diffs_text(value, number)
cdef bytes _value_text(bytes data)
