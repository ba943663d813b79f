cpdef str quoted(const unsigned char *data, Py_ssize_t start, Py_ssize_t stop)
cpdef double double_at(const unsigned char *data, Py_ssize_t place) except? -1.0
cpdef str shortest(double value)

cdef class Pieces:
    cdef unsigned char *_first
    cdef Py_ssize_t _size, _room, _left

    cdef unsigned char *_more(self, Py_ssize_t size) except NULL
    cdef bint take(self, Py_ssize_t count) noexcept
    cdef int add(self, str text) except -1
    cdef int quoted(self, const unsigned char *data, Py_ssize_t start, Py_ssize_t stop) except -1
    cdef int integer(self, long long value) except -1
    cdef bint double(self, const unsigned char *data, Py_ssize_t place) except -1
    cpdef int fold(self) except -1
    cdef str text(self)
