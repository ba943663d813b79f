cimport cython

cdef int _MARKER, _ANONYMOUS


cdef class EventLines:
    cdef public object session, payload
    cdef public bint tells_row_id
    cdef object _clock
    cdef bint _all_flags, _metadata
    cdef tuple _fronts, _second, _settings, _statement, _table
    cdef dict _titles

    @cython.locals(text=bytes)
    cpdef bytes whole(self, event, data)
    cpdef bytes words(self, event)
    cpdef bytes place(self, event)
    @cython.locals(place=str, flags=int, position="unsigned long long")
    cdef str _place(self, event)
    cpdef object position(self, event)
    @cython.locals(words=bytes)
    cpdef bytes head(self, event, data)
    cdef bytes _dump(self, event, bytes data)
    cpdef bytes as_printed(self, bytes data)
    @cython.locals(
        words=str, end="unsigned long long", crc="unsigned long long"
    )
    cdef str _head(self, event, str place)
    @cython.locals(last=tuple, text=str)
    cdef str _front(self, timestamp, server)
    cpdef str time(self, seconds)
    @cython.locals(key=tuple, known=tuple)
    cpdef bytes rows_title(self, body)
    @cython.locals(settings=tuple, before=bytes, behind=bytes)
    cdef bytes _query(self, header, body)
    @cython.locals(then=str, before=str, committed=str, first=str, writer=str)
    cdef bytes _gtid(self, header, body)
    @cython.locals(last=tuple, micro="unsigned long long")
    cdef str _precise(self, microseconds)
    @cython.locals(known=tuple, words=str, text=bytes)
    cdef bytes _table_map(self, body)
