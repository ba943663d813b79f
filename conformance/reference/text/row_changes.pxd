cimport cython
from conformance.reference.binlog.rows cimport table_map_of
from conformance.reference.partial.diffs cimport split_diffs
from conformance.reference.jsonb.stored_text cimport document_text
from conformance.reference.jsonb.leaves cimport quoted


cdef class Gtids:
    cdef object _body, _text
    cdef public object committed

    cpdef object feed(self, body, server_id=*)


cdef class RowChanges:
    cdef public object form, counts
    cdef public bint rows_only
    cdef object _line, _file
    cdef Gtids _gtids

    cpdef object begin_transaction(self, body)
    cpdef object event(self, event, resolve=*)
    @cython.locals(fields=tuple)
    cdef object _fields(self, event, operation)


@cython.locals(parts=list, place=Py_ssize_t, index=object, shown=str, head=str)
cdef str _image(image, tuple columns, known)

@cython.locals(key=tuple, known=tuple)
cdef tuple _columns(table, form, bitmap)

@cython.locals(parts=list, text=str)
cdef str _json(value, document)

cdef str _word(word)
cdef str _number(value)
