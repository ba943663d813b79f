cimport cython


cdef class Gtids:
    cdef object _body, _text


cdef class RowChanges:
    cdef public object form, counts
    cdef public bint rows_only
    cdef object _line, _file
    cdef Gtids _gtids

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
