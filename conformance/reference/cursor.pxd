cimport cython

cdef class Layout:
    cdef public dict forms
    cdef public object struct, unpack_from
    cdef public Py_ssize_t size

cdef class Cursor:
    cdef public object data
    cdef public Py_ssize_t pos, end
