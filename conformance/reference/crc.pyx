"""crc.py in C: the same answers, held equal by the tests of both. For short bytes, calling zlib takes longer than it
works."""

from zlib import crc32 as _crc32

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_CheckExact, PyBytes_GET_SIZE

cdef enum:
    _POLYNOMIAL = 0xedb88320
    _SHORT = 512

cdef unsigned int _tables[8][256]  # of a byte that stands so far from the end of eight
cdef unsigned int _code
cdef int _bit, _byte, _place
for _byte in range(256):
    _code = _byte
    for _bit in range(8):
        _code = _code >> 1 ^ (_POLYNOMIAL if _code & 1 else 0)
    _tables[0][_byte] = _code
for _place in range(1, 8):
    for _byte in range(256):
        _code = _tables[_place - 1][_byte]
        _tables[_place][_byte] = _code >> 8 ^ _tables[0][_code & 255]


cpdef unsigned int crc32(data, unsigned int start=0) except? 0:
    cdef Py_ssize_t left
    cdef const unsigned char *octets
    cdef unsigned int code
    if not PyBytes_CheckExact(data) or PyBytes_GET_SIZE(data) > _SHORT:
        return _crc32(data, start)
    left = PyBytes_GET_SIZE(data)
    octets = <const unsigned char *> PyBytes_AS_STRING(data)
    code = ~start
    while left >= 8:
        code ^= octets[0] | octets[1] << 8 | octets[2] << 16 | <unsigned int> octets[3] << 24
        code = (
            _tables[7][code & 255] ^ _tables[6][code >> 8 & 255] ^ _tables[5][code >> 16 & 255] ^ _tables[4][code >> 24]
            ^ _tables[3][octets[4]] ^ _tables[2][octets[5]] ^ _tables[1][octets[6]] ^ _tables[0][octets[7]]
        )
        octets += 8
        left -= 8
    while left:
        code = code >> 8 ^ _tables[0][(code ^ octets[0]) & 255]
        octets += 1
        left -= 1
    return ~code
