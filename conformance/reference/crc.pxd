cpdef unsigned int crc32(data, unsigned int start=*) except? 0
