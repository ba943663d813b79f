cpdef unsigned int u4_at(data, Py_ssize_t place) except? 0xffffffff
cpdef unsigned long long u8_at(data, Py_ssize_t place) except? 0xffffffffffffffff
cpdef object number_at(data, Py_ssize_t place, Py_ssize_t size)
