cimport cython

cdef int _REMOVE, _LONG

@cython.locals(
    out=list, pos=Py_ssize_t, end=Py_ssize_t, code=int, start=Py_ssize_t, stop=Py_ssize_t, last=Py_ssize_t,
)
cpdef list split_diffs(data)
