cimport cython
from conformance.reference.binlog.rows cimport table_map_of


cdef class _Column:
    cdef readonly int number
    cdef readonly object show
    cdef readonly bytes head, tail, null


cdef _Layout _layout(event, table, bint types)


cdef class _Layout:
    cdef readonly tuple before, after
    cdef readonly bytes head

    @cython.locals(parts=list, goes_on=bint)
    cpdef tuple row(self, row, list failures)
    @cython.locals(place=Py_ssize_t, column=_Column, known=tuple)
    cdef bint _image(self, image, tuple columns, list parts, list failures) except -1
