cimport cython
from conformance.reference.binlog.event cimport decode_body
from conformance.reference.crc cimport crc32
from conformance.reference.integers cimport u4_at

cdef int _FORMAT_DESCRIPTION, _TABLE_MAP, _QUERY, _XID, _XID_END, _MAX_CACHED_QUERY, _START_ENCRYPTION
cdef Py_ssize_t HEADER_SIZE, FOOTER_SIZE, _TYPE_OFFSET, _LENGTH_OFFSET
cdef unsigned int _CRC_RESIDUE

cdef class Passed:
    cdef list _counts
    cdef public object gtid

    cpdef object count(self, int code)
    cpdef object take_gtid(self)


cdef class EventDecoder:
    cdef public object rules, algorithm, limit, format, event_bytes, unread, describe
    cdef public bint verify, keep_bytes
    cdef bint _encrypted
    cdef public dict tables
    cdef public Passed pass_over
    cdef object _rules_for, _latest
    cdef int _footer
    cdef Py_ssize_t _columns
    cdef dict _maps, _queries
    cdef tuple _head

    cpdef object read(self, data, position=*)
    @cython.locals(code=int, end=Py_ssize_t, passed=Passed, whole=bytes, octets="const unsigned char *")
    cpdef object read_whole(self, data, position)
    cdef object _body(self, int code, data)
    @cython.locals(head=bytes, fields=tuple, size=Py_ssize_t)
    cdef object _rows(self, int code, data)
    cdef object _query(self, bytes data)
    cdef object _table_map(self, bytes data)
    cpdef object forget_tables(self)


cdef class _Window:
    cdef object data
    cdef Py_ssize_t pos


cdef class FileReader:
    cdef public EventDecoder decoder
    cdef public Py_ssize_t position, wanted
    cdef public list notes
    cdef public bint expand, in_use
    cdef list _parts
    cdef object _large
    cdef Py_ssize_t _size
    cdef bint _zeros

    @cython.locals(pos=Py_ssize_t, end=Py_ssize_t, left=Py_ssize_t, length=Py_ssize_t, decoder=EventDecoder,
        whole=bytes, octets="const unsigned char *")
    cdef object _next(self, _Window window)
