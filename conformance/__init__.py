"""A conformance kit for MySQL's partial JSON row events, as a command (``binlog-lab``) and as a library.

The names of ``__all__`` are the library's face: they stay, and ``docs/reference/library.md`` has an example of each
kind. They are imported when they are first used. Other names may change, but for those that
``docs/reference/library.md`` lists: strategies, the data source and the pytest plugin.
"""

import importlib
import os
from typing import TYPE_CHECKING, Any

if os.environ.get("BINLOG_LAB_PURE", "0") != "0":
    from conformance.builds import take_sources

    take_sources()

if TYPE_CHECKING:
    from conformance.cases.one_row import PredictedUpdate, UnreadableSqlError, predict
    from conformance.logs.reading import read_events, read_rows
    from conformance.reference.binlog.event import Event
    from conformance.reference.dialect import Dialect
    from conformance.reference.errors import CodecError, DecodeError, EncodeError, MysqlError, Unsupported
    from conformance.reference.jsonb.decode import decode
    from conformance.reference.jsonb.parse import parse_text
    from conformance.reference.jsonb.text import format_text
    from conformance.reference.jsonb.values import JsonValue, Opaque, UInt
    from conformance.reference.partial.apply import apply_diffs
    from conformance.reference.partial.diffs import Diff, Operation, decode_diffs, encode_diffs
    from conformance.reference.partial.paths import Path, parse_path
    from conformance.reference.partial.user_documents import encode
    from conformance.requirements.versions import dialect

__all__ = (
    "CodecError",
    "DecodeError",
    "Dialect",
    "Diff",
    "EncodeError",
    "Event",
    "JsonValue",
    "MysqlError",
    "Opaque",
    "Operation",
    "Path",
    "PredictedUpdate",
    "UInt",
    "UnreadableSqlError",
    "Unsupported",
    "apply_diffs",
    "decode",
    "decode_diffs",
    "dialect",
    "encode",
    "encode_diffs",
    "format_text",
    "parse_path",
    "parse_text",
    "predict",
    "read_events",
    "read_rows",
)

_HOMES = {
    "conformance.cases.one_row": ("PredictedUpdate", "UnreadableSqlError", "predict"),
    "conformance.logs.reading": ("read_events", "read_rows"),
    "conformance.reference.binlog.event": ("Event",),
    "conformance.reference.dialect": ("Dialect",),
    "conformance.reference.errors": ("CodecError", "DecodeError", "EncodeError", "MysqlError", "Unsupported"),
    "conformance.reference.jsonb.decode": ("decode",),
    "conformance.reference.jsonb.parse": ("parse_text",),
    "conformance.reference.jsonb.text": ("format_text",),
    "conformance.reference.jsonb.values": ("JsonValue", "Opaque", "UInt"),
    "conformance.reference.partial.apply": ("apply_diffs",),
    "conformance.reference.partial.diffs": ("Diff", "Operation", "decode_diffs", "encode_diffs"),
    "conformance.reference.partial.paths": ("Path", "parse_path"),
    "conformance.reference.partial.user_documents": ("encode",),
    "conformance.requirements.versions": ("dialect",),
}


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module(home), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
