"""integers.py in C: the same answers, held equal by the tests of both."""

from struct import Struct

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_CheckExact, PyBytes_GET_SIZE

_U4 = Struct("<I").unpack_from
_U8 = Struct("<Q").unpack_from


cdef inline const unsigned char *_octets(data, Py_ssize_t place, Py_ssize_t size):
    """Where the bytes are, if this is a plain object of bytes that has them all."""
    if PyBytes_CheckExact(data) and 0 <= place <= PyBytes_GET_SIZE(data) - size:
        return <const unsigned char *> PyBytes_AS_STRING(data) + place
    return NULL


cdef inline unsigned long long _number(const unsigned char *octets, Py_ssize_t size):
    cdef unsigned long long value = 0
    while size > 0:
        size -= 1
        value = value << 8 | octets[size]
    return value


cpdef unsigned int u4_at(data, Py_ssize_t place) except? 0xffffffff:
    cdef const unsigned char *octets = _octets(data, place, 4)
    return _U4(data, place)[0] if octets is NULL else <unsigned int> _number(octets, 4)


cpdef unsigned long long u8_at(data, Py_ssize_t place) except? 0xffffffffffffffff:
    cdef const unsigned char *octets = _octets(data, place, 8)
    return _U8(data, place)[0] if octets is NULL else _number(octets, 8)


cpdef object number_at(data, Py_ssize_t place, Py_ssize_t size):
    cdef const unsigned char *octets = _octets(data, place, size) if 0 <= size <= 8 else NULL
    return int.from_bytes(data[place : place + size], "little") if octets is NULL else _number(octets, size)
