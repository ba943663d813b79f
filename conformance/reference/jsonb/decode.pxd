cimport cython

cdef int STRING, INT16, DOUBLE, INT32, LITERAL, INT64, UINT16, UINT32, OPAQUE

@cython.locals(kind=int)
cpdef object decode(data)

@cython.locals(length=Py_ssize_t, stop=Py_ssize_t)
cpdef tuple decode_scalar(data, int kind, Py_ssize_t pos, Py_ssize_t end)

@cython.locals(count=Py_ssize_t, size=Py_ssize_t, left=Py_ssize_t, keys=Py_ssize_t, values=Py_ssize_t, values_end=Py_ssize_t)
cpdef (Py_ssize_t, Py_ssize_t, Py_ssize_t, Py_ssize_t) container_header(
    const unsigned char *data, int kind, Py_ssize_t start, Py_ssize_t end
) except *

@cython.locals(last=Py_ssize_t, top=Py_ssize_t)
cpdef Py_ssize_t last_key_end(const unsigned char *entries, int kind, Py_ssize_t start, Py_ssize_t end) except -1
