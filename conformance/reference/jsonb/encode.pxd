cimport cython

@cython.locals(length=Py_ssize_t)
cpdef tuple encode_typed(typed, int level)

cdef tuple _signed(value)
cdef tuple _array(list items, int level)
cdef tuple _object(dict members, int level)
cdef tuple _container(list values, keys, bint is_object)

@cython.locals(
    count=Py_ssize_t, offset=Py_ssize_t, parts=list, tail=list, entry=tuple, kind=int, data=bytes,
)
cdef bytes _small(list values, keys, bint is_object)
