cimport cython

from conformance.console cimport Output
from conformance.logs.markers cimport MarkedLog
from conformance.reference.binlog.files cimport Passed
from conformance.reference.text.mysqlbinlog cimport LogText
from conformance.reference.text.row_changes cimport RowChanges


cdef class TextPrinter:
    cdef public Output output
    cdef object _logs, _form, _unseen, _spool, _statements, _path, _of_mariadb, _text
    cdef LogText _of_mysql
    cdef bint _begun
    cdef Py_ssize_t _shown
    cdef object _tally
    cdef MarkedLog _marked

    @cython.locals(output=Output)
    cpdef object event(self, event, choice)
    cdef object _left_out(self, event, choice)


cdef class ChangePrinter:
    cdef public Output output
    cdef object _logs, _path, _replay, _resolve_row, _shown, _waiting
    cdef Passed _passed
    cdef RowChanges _changes
    cdef bytes _head
    cdef bint _begins_inside, _begun

    cdef object _catch_up(self)
    @cython.locals(passed=Passed, output=Output, line=str)
    cpdef object event(self, event, choice)
