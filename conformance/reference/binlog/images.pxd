cimport cython

cdef int _PARTIAL_UPDATE_ROWS, PARTIAL_JSON_OPTION

@cython.locals(options=int, columns=Py_ssize_t, end=Py_ssize_t)
cdef tuple _shared_image(table, bytes data, Py_ssize_t pos)
