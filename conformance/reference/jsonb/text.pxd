cimport cython
from conformance.reference.jsonb.leaves cimport shortest

cdef double _FIXED_FROM, _FIXED_LIMIT
@cython.locals(text=str)
cpdef str format_double(double value)
cpdef format_text(value, forms=*)
