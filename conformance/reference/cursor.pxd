cimport cython
from conformance.reference.integers cimport number_at, u4_at, u8_at


cdef class Layout:
    cdef public dict forms
    cdef public object struct, unpack_from
    cdef public Py_ssize_t size

cdef class Cursor:
    cdef public object data
    cdef public Py_ssize_t pos, end

    cdef object _short(self, object count, object field)
    cpdef object take(self, count, field)
    cpdef Py_ssize_t skip(self, count, field) except -1
    cpdef object rest(self, field)
    cpdef object fields(self, Layout layout, what)
    cpdef object u1(self, field)
    cpdef object u2(self, field)
    cpdef object u4(self, field)
    cpdef object u8(self, field)
    cpdef object number(self, Py_ssize_t size, field)
    cpdef object octets(self, count, field, first=*)
    cpdef object bitmap(self, count, field, items=*)
    @cython.locals(pos=Py_ssize_t, first=int, size=Py_ssize_t)
    cpdef object packed(self, field)
    cpdef object packed_bytes(self, field)
