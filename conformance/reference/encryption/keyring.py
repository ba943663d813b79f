"""The master keys in a file of ``component_keyring_file``: JSON, with the keys in plain hex (innodb-sdi B.10,
binlog-events 17).

Not read: the file of the older plugin ``keyring_file``, and all other keyrings, whose keys are encrypted or elsewhere.
``mysql_migrate_keyring`` copies keys into a file of this component.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from conformance.reference.encryption.aes import KEY
from conformance.reference.errors import DecodeError, Unsupported
from conformance.reference.portable import read_json

_VERSION: Final = "1.0"
_OLD: Final = b"Keyring file version:"  # how a file of the plugin begins
_INNODB: Final = "INNODBKey-"
_MASTER_KEY: Final = re.compile(r"INNODBKey-.*|MySQLReplicationKey_[0-9a-f-]{36}_[0-9]+", re.DOTALL)


class Keyring(NamedTuple):
    """The master keys of InnoDB and of replication by the ids that a server gives them; others are left out."""

    keys: dict[str, bytes]

    @classmethod
    def parse(cls, data: bytes) -> Keyring:
        """Read the file. Raises for anything but the component's JSON; no error has the bytes of a key."""
        if data.startswith(_OLD):
            raise Unsupported("keyring-format", "the file is one of the plugin keyring_file: mysql_migrate_keyring "
                              "copies it into one of component_keyring_file", path=("keyring",))  # fmt: skip
        try:
            content = read_json(data)
        except ValueError:
            raise _not_a_keyring("the file is no JSON") from None
        if not isinstance(content, dict) or content.get("version") != _VERSION:
            raise _not_a_keyring(f"the file does not have the version {_VERSION}")
        elements = content.get("elements")
        if not isinstance(elements, list):
            raise _not_a_keyring("the file has no list of elements")
        return cls(dict(filter(None, (_master_key(number, element) for number, element in enumerate(elements)))))

    def master_key(self, server: str, number: int) -> bytes:
        """The key with this number of the server with this UUID. Raises if it is not there."""
        name = f"{_INNODB}{server}-{number}"
        if name not in self.keys:
            raise self._lacks(name, "tablespace", ("master_key_id",))
        return self.keys[name]

    def replication_key(self, name: str) -> bytes:
        """The key with the id that an encrypted log names. Raises if it is not there."""
        if name not in self.keys:
            raise self._lacks(name, "log", ("encryption_header", "master_key_id"))
        return self.keys[name]

    def _lacks(self, name: str, what: str, path: tuple[str, ...]) -> DecodeError:
        return DecodeError("no-master-key", f"the keyring lacks the master key of the {what}", expected=name,
                           got=", ".join(self.keys) or "no master key", path=path)  # fmt: skip


def _master_key(number: int, element: object) -> tuple[str, bytes] | None:
    """Id and key of an element; None if it is no master key: replication also keeps the numbers of its keys there."""
    where = f"elements[{number}]"
    if not isinstance(element, dict):
        raise _not_a_keyring("an element is no object", where)
    name = element.get("data_id")
    if not isinstance(name, str) or not _MASTER_KEY.fullmatch(name):
        return None
    try:
        key = bytes.fromhex(element["data"])
    except (KeyError, TypeError, ValueError):
        raise _not_a_keyring("a key is not in hex", where, "data") from None
    if element.get("data_type") != "AES" or len(key) != KEY:
        raise _not_a_keyring("a master key is none of AES-256", where, "data")
    return name, key


def _not_a_keyring(message: str, *path: str) -> DecodeError:
    return DecodeError("not-a-keyring", message, path=("keyring", *path))
