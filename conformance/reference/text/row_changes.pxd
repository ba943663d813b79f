cimport cython

@cython.locals(parts=list, place=Py_ssize_t, index=object, shown=str, head=str)
cdef str _image(image, tuple columns, known)

@cython.locals(key=tuple, known=tuple)
cdef tuple _columns(table, form, bitmap)

@cython.locals(parts=list, text=str)
cdef str _json(value, document)

cdef str _word(word)
cdef str _number(value)
