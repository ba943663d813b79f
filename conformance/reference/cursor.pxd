cimport cython

# Counts stay Python numbers: a log may hold any number of eight bytes where it should say how much follows.

cdef class Layout:
    cdef public dict forms
    cdef public object struct, unpack_from
    cdef public Py_ssize_t size

cdef class Cursor:
    cdef public object data
    cdef public Py_ssize_t pos, end

    @cython.locals(pos=Py_ssize_t)
    cpdef take(self, count, field)

    @cython.locals(pos=Py_ssize_t)
    cpdef skip(self, count, field)

    @cython.locals(pos=Py_ssize_t)
    cpdef tuple fields(self, Layout layout, what)

    @cython.locals(pos=Py_ssize_t)
    cpdef u1(self, field)

    @cython.locals(pos=Py_ssize_t)
    cpdef u4(self, field)

    @cython.locals(pos=Py_ssize_t)
    cpdef u8(self, field)

    @cython.locals(pos=Py_ssize_t)
    cpdef number(self, size, field)
