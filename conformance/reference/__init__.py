"""The meaning of MySQL's bytes, and the bytes that MySQL writes: sans-I/O, from values to bytes and back.

This package holds only bytes and values: no files, no servers. It uses only the standard library, and the packages for
zstd and crc32c.
"""
