cdef class AddedLines:
    cdef list _places
    cdef bint _partial, _begun, _open, _framed
    cdef object _query, _class

    cpdef object before(self, event)
    cpdef object follow(self, body)
