# distutils: language = c++
"""leaves.py in C: the same answers, held equal by the tests of both."""

from json.encoder import encode_basestring as _quote

from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.string cimport memcpy, memchr

cdef extern from "Python.h":
    double PyFloat_Unpack8(const char *place, int little_endian) except? -1.0
    object PyUnicode_New(Py_ssize_t size, Py_UCS4 largest)
    unsigned char *PyUnicode_1BYTE_DATA(object text)

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


cpdef str shortest(double value):
    """The digits come from the C++ library; where Python takes them for an exponent, or there are none, it does so."""
    cdef char digits[32]
    cdef char fixed[48]
    cdef char *end
    cdef Py_ssize_t count, left, at = 0
    cdef int exponent = 0
    cdef const char *first = digits
    if not -1e15 < value < 1e15 or -1e-4 < value < 1e-4:
        return repr(value)
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
        return fixed[:at].decode("ascii")
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
    return fixed[:at].decode("ascii")
