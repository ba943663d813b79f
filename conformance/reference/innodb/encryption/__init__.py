"""Encrypted tablespaces: the key of a tablespace, which a master key opens, and its pages (innodb-sdi B.10)."""
