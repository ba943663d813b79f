"""Common parts of encrypted tablespaces and encrypted logs: AES-256 (:mod:`.aes`) and the keyring (:mod:`.keyring`)."""
