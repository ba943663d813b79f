cimport cython
from conformance.reference.integers cimport number_at

cdef int _PARTIAL_UPDATE_ROWS

cdef class _Plan:
    cdef public object table, partial
    cdef public tuple columns, codecs
    cdef public list reads, fill
    cdef public dict patterns
    cpdef object image(self, partial=*)
    cpdef list partial_reads(self, partial)

@cython.locals(plan=_Plan)
cdef _Plan _plan(table, bitmap, bint view=*)

@cython.locals(options=int, columns=Py_ssize_t, end=Py_ssize_t)
cdef tuple _shared_image(table, data, Py_ssize_t pos)
