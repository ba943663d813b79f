cimport cython

cdef int _QUERY, _ROTATE, _MAX_STEPS

cpdef query_role(bytes text)


cdef class Receiver:
    cdef public object parser
    cdef bint _begun, _relay
    cdef object _shift
    cdef dict _steps

    cpdef object feed(self, event)
    @cython.locals(key=tuple, step=tuple)
    cpdef object judge(self, int code, int flags, log_pos, bytes text)
    cdef object _judge(self, event)
