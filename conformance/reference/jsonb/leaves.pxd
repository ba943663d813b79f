cpdef str quoted(const unsigned char *data, Py_ssize_t start, Py_ssize_t stop)
cpdef double double_at(const unsigned char *data, Py_ssize_t place) except? -1.0
cpdef str shortest(double value)
