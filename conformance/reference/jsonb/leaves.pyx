# distutils: language = c++
"""leaves.py in C: the same answers, held equal by the tests of both."""

from json.encoder import encode_basestring as _quote

from cpython.mem cimport PyMem_Free, PyMem_Realloc
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.string cimport memcpy, memchr

cdef extern from "Python.h":
    double PyFloat_Unpack8(const char *place, int little_endian) except? -1.0
    object PyUnicode_New(Py_ssize_t size, Py_UCS4 largest)
    unsigned char *PyUnicode_1BYTE_DATA(object text)
    bint PyUnicode_IS_ASCII(object text)

cdef extern from "<charconv>" namespace "std" nogil:
    cdef enum class chars_format "std::chars_format":
        scientific
    cdef struct to_chars_result "std::to_chars_result":
        char *ptr
    to_chars_result to_chars(char *first, char *last, double value, chars_format form)

cdef unsigned char _plain[256]  # bytes that a JSON string shows as they are
cdef int _code
for _code in range(256):
    _plain[_code] = 0x20 <= _code < 0x80 and _code not in b'"\\'


cpdef str quoted(const unsigned char *data, Py_ssize_t start, Py_ssize_t stop):
    cdef Py_ssize_t place
    cdef unsigned char *to
    for place in range(start, stop):
        if not _plain[data[place]]:
            return _quote(PyUnicode_DecodeUTF8(<const char *> data + start, stop - start, NULL))
    text = PyUnicode_New(stop - start + 2, 127)
    to = PyUnicode_1BYTE_DATA(text)
    to[0] = to[stop - start + 1] = 34
    memcpy(to + 1, data + start, stop - start)
    return text


cpdef double double_at(const unsigned char *data, Py_ssize_t place) except? -1.0:
    return PyFloat_Unpack8(<const char *> data + place, 1)


cdef Py_ssize_t _simple(double value, char *fixed) noexcept:
    """Write the shortest digits without an exponent, and return their number; 0 where Python takes an exponent.

    The digits come from the C++ library.
    """
    cdef char digits[32]
    cdef char *end
    cdef Py_ssize_t count, left, at = 0
    cdef int exponent = 0
    cdef const char *first = digits
    if not -1e15 < value < 1e15 or -1e-4 < value < 1e-4:
        return 0
    end = to_chars(digits, digits + 32, value, chars_format.scientific).ptr
    if first[0] == 45:
        fixed[0] = 45
        at = 1
        first += 1
    # d[.ddd]e(+|-)xx
    count = <const char *> memchr(first, 101, end - first) - first
    left = count + 2
    exponent = (first[left] - 48) * 10 + first[left + 1] - 48
    if first[count + 1] == 45:
        fixed[at] = 48
        fixed[at + 1] = 46
        at += 2
        for left in range(exponent - 1):
            fixed[at] = 48
            at += 1
        fixed[at] = first[0]
        at += 1
        if count > 2:
            memcpy(fixed + at, first + 2, count - 2)
            at += count - 2
        return at
    fixed[at] = first[0]
    at += 1
    for left in range(2, exponent + 2):
        fixed[at] = first[left] if left < count else 48
        at += 1
    fixed[at] = 46
    at += 1
    if count > exponent + 2:
        memcpy(fixed + at, first + exponent + 2, count - exponent - 2)
        at += count - exponent - 2
    else:
        fixed[at] = 48
        at += 1
    return at


cpdef str shortest(double value):
    """Where Python takes an exponent for the digits, or there are none, it does so."""
    cdef char fixed[48]
    cdef Py_ssize_t size = _simple(value, fixed)
    return fixed[:size].decode("ascii") if size else repr(value)


cdef class Pieces:
    def __init__(self, Py_ssize_t left):
        self._left = left

    def __dealloc__(self):
        PyMem_Free(self._first)

    cdef unsigned char *_more(self, Py_ssize_t size) except NULL:
        """The place of so many more bytes."""
        cdef Py_ssize_t wanted = self._size + size
        cdef unsigned char *first
        if wanted > self._room:
            wanted = max(2 * self._room, wanted, 256)
            first = <unsigned char *> PyMem_Realloc(self._first, wanted)
            if not first:
                raise MemoryError
            self._first = first
            self._room = wanted
        first = self._first + self._size
        self._size += size
        return first

    cdef bint take(self, Py_ssize_t count) noexcept:
        self._left -= count
        return self._left >= 0

    cdef int add(self, str text) except -1:
        cdef bytes data
        if PyUnicode_IS_ASCII(text):
            memcpy(self._more(len(text)), PyUnicode_1BYTE_DATA(text), len(text))
        else:
            data = text.encode("utf-8", "surrogateescape")
            memcpy(self._more(len(data)), <const char *> data, len(data))
        return 0

    cdef int quoted(self, const unsigned char *data, Py_ssize_t start, Py_ssize_t stop) except -1:
        cdef Py_ssize_t place
        cdef unsigned char *to
        for place in range(start, stop):
            if not _plain[data[place]]:
                return self.add(quoted(data, start, stop))
        to = self._more(stop - start + 2)
        to[0] = to[stop - start + 1] = 34
        memcpy(to + 1, data + start, stop - start)
        return 0

    cdef int integer(self, long long value) except -1:
        cdef char digits[24]
        cdef Py_ssize_t at = 24
        cdef unsigned long long left = value if value >= 0 else 0 - <unsigned long long> value
        while True:
            at -= 1
            digits[at] = 48 + left % 10
            left //= 10
            if not left:
                break
        if value < 0:
            at -= 1
            digits[at] = 45
        memcpy(self._more(24 - at), digits + at, 24 - at)
        return 0

    cdef bint double(self, const unsigned char *data, Py_ssize_t place) except -1:
        cdef char fixed[48]
        cdef Py_ssize_t size = _simple(double_at(data, place), fixed)
        if size:
            memcpy(self._more(size), fixed, size)
        return size > 0

    cpdef int fold(self) except -1:
        return 0

    cdef str text(self):
        return PyUnicode_DecodeUTF8(<const char *> self._first, self._size, "surrogateescape")
