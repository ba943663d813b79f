cimport cython
from conformance.reference.jsonb.stored_text cimport document_text
from conformance.reference.partial.diffs cimport split_diffs

@cython.locals(parts=list, place=Py_ssize_t, head=str, shown=str)
cdef str _image(tuple image, tuple columns, known)
