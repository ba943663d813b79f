cimport cython

from conformance.reference.boundaries.unmarked cimport Receiver


cdef int _MARKER, _QUERY


cdef class MarkedLog:
    cdef object _path, _narrate
    cdef Receiver _receiver
    cdef bint _marked
    cdef Py_ssize_t _broken

    @cython.locals(code=int, flags=int, text=bytes)
    cpdef object feed(self, event)
