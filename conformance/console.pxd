cdef class Output:
    cdef list _parts
    cdef Py_ssize_t _size
    cdef object _decoder

    cpdef object write(self, bytes data)
