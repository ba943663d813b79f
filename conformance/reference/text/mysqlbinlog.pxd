cimport cython

from conformance.reference.text.added_lines cimport AddedLines
from conformance.reference.text.event_lines cimport EventLines


cdef class LogText:
    cdef public bint types
    cdef bint _complete, _rows_wait, _prints_rows, _dumps
    cdef set _loaded
    cdef object _server, _spool, _statement
    cdef EventLines _lines
    cdef list _deferred
    cdef AddedLines _added

    @cython.locals(text=bytes)
    cpdef object event(self, event, data=*)
    cdef bytes _small(self, event)
    cdef bytes _payload_words(self, body)
