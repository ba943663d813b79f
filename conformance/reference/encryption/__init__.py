"""What encrypted tablespaces and encrypted logs share: AES-256 (:mod:`.aes`) and the keyring (:mod:`.keyring`)."""
