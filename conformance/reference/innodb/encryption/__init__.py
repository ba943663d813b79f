"""Encrypted tablespaces: from a keyring file to the plain bytes of a page (innodb-sdi B.10).

The keyring has master keys (:mod:`.keyring`). One of them opens the key of a tablespace (:mod:`.tablespace_key`), which
opens its pages with AES-256 (:mod:`.aes`).
"""
