cimport cython

cdef int _FORMAT_DESCRIPTION, _TABLE_MAP, _QUERY, _XID, _XID_END, HEADER_SIZE, FOOTER_SIZE
cdef unsigned int _CRC_RESIDUE

cdef class EventDecoder:
    cdef public object rules, _rules_for, algorithm, limit, format, event_bytes, _latest
    cdef public bint verify, keep_bytes
    cdef public dict pass_over, tables, _maps, _queries
    cdef public Py_ssize_t _footer

    @cython.locals(code=int, length=Py_ssize_t, passed=dict)
    cpdef read(self, data, position=*)

    cpdef _body(self, int code, data)
    cpdef _query(self, bytes data)

    @cython.locals(tables=dict)
    cpdef _table_map(self, bytes data)
