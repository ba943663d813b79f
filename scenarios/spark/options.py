"""The options of the data source ``mysql-binlog``: texts by name, as Spark gives them."""

from __future__ import annotations

import json
import re
from enum import StrEnum
from typing import TYPE_CHECKING, Final, TypeVar

from conformance.logs.rows.options import (
    BATCH,
    EARLIEST,
    LATEST,
    PARTITION,
    Content,
    Documents,
    Layout,
    Mode,
    OptionError,
    Options,
    Times,
)
from conformance.messages import did_you_mean
from conformance.reference.binlog.rows import ROWS_TYPES
from conformance.reference.event_types import EventType, event_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_UNITS: Final = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
_SIZE: Final = re.compile(r"(\d+) ?([kmg]?)b?", re.IGNORECASE)
_OFFSET: Final = re.compile(r"[^/:]+:\d+")
_SUFFIXES: Final = re.compile(r"(_LOG)?_EVENT(?=_V[12]$|$)")
_KNOWN: Final = (
    "path, paths, pathGlobFilter, recursiveFileLookup, ignoreCorruptFiles, content, schema, columns, types, tables,"
    " body, documents, timestampType, metadata, mode, columnNameOfCorruptRecord, problems, maxPartitionBytes,"
    " splitBytes, batchBytes, maxUncompressed, metrics, startingOffset, maxBytesPerTrigger"
)
_PROBLEMS: Final = {"rows": Mode.PERMISSIVE, "fail": Mode.FAILFAST}  # former names of two modes

Choice = TypeVar("Choice", bound=StrEnum)


def parse_options(given: Mapping[str, str], *, streams: bool = False) -> Options:
    """Parse options, whose names may have any case. ``streams``: a stream goes on behind damage unless it is told
    otherwise, where a query fails. Raises :class:`OptionError`.
    """
    left = {name.lower(): value for name, value in given.items()}
    paths = _paths(left.pop("path", None), left.pop("paths", None))
    content = _choice(Content, "content", left.pop("content", Content.ROWS))
    layout = _choice(Layout, "schema", left.pop("schema", Layout.ANY))
    columns = left.pop("columns", None)
    types = left.pop("types", None)
    tables = left.pop("tables", None)
    body = left.pop("body", None)
    documents = left.pop("documents", None)
    splits = [left.pop("splitbytes", None), left.pop("maxpartitionbytes", None)]
    times = _choice(Times, "timestampType", left.pop("timestamptype", Times.TIMESTAMP))
    metadata = left.pop("metadata", "false")
    pattern = left.pop("pathglobfilter", None)
    recursive = left.pop("recursivefilelookup", "false")
    batch = left.pop("batchbytes", None)
    most = left.pop("maxuncompressed", None)
    problems = left.pop("problems", "").strip().lower() or None
    named = left.pop("mode", None)
    record = left.pop("columnnameofcorruptrecord", None)
    ignored = left.pop("ignorecorruptfiles", None)
    metrics = left.pop("metrics", None)
    start = left.pop("startingoffset", EARLIEST)
    trigger = left.pop("maxbytespertrigger", None)
    if left:
        name = min(left)
        raise OptionError(f"option {name}: not known{did_you_mean(name, _KNOWN.split(', '))}; expected one of {_KNOWN}")
    with_body = content is not Content.EVENTS if body is None else _flag("body", body)
    if documents is not None and (content is not Content.ROWS or not with_body):
        raise OptionError("option documents: belongs to content=rows with body=true, where there are images")
    form = Documents.JSON if documents is None else _choice(Documents, "documents", documents)
    if layout is Layout.TYPED:
        if content is not Content.ROWS or not with_body or form not in (Documents.JSON, Documents.VARIANT):
            raise OptionError("option schema: typed belongs to content=rows with documents=json or variant")
        if tables is None:
            raise OptionError("option schema: typed is for one table, which the option tables names, as in shop.orders")
    return Options(
        paths=paths,
        content=content,
        layout=layout,
        columns=None if columns is None else _names(columns),
        types=None if types is None else frozenset(_types(types, content)),
        tables=None if tables is None else _tables(tables),
        body=with_body,
        documents=form,
        split_bytes=_partition(*splits),
        times=times,
        metadata=_flag("metadata", metadata),
        name_filter=pattern,
        recursive=_flag("recursiveFileLookup", recursive),
        batch_bytes=BATCH if batch is None else _size("batchBytes", batch),
        max_uncompressed=None if most is None else _size("maxUncompressed", most),
        mode=_mode(named, problems, Mode.PERMISSIVE if streams else Mode.FAILFAST),
        ignore_corrupt_files=streams or problems == "rows" if ignored is None else _flag("ignoreCorruptFiles", ignored),
        corrupt_record=record,
        metrics=metrics,
        starting_offset=_offset(start),
        bytes_per_trigger=None if trigger is None else _size("maxBytesPerTrigger", trigger),
    )


def _paths(path: str | None, paths: str | None) -> tuple[str, ...]:
    if paths is not None:  # Spark's form of load([…])
        try:
            found = json.loads(paths)
        except ValueError:
            found = None
        if not isinstance(found, list) or not found or not all(isinstance(item, str) and item for item in found):
            raise OptionError(f"option paths: expected a JSON array of paths, got {paths!r}")
        return (*([path] if path else ()), *found)
    if not path:
        raise OptionError("option path: expected a file, a directory or a pattern, as in .load(path); got none")
    return (path,)


def _mode(named: str | None, problems: str | None, default: Mode) -> Mode:
    if problems is None:
        return default if named is None else _choice(Mode, "mode", named)
    found = _PROBLEMS.get(problems)
    if found is None:
        raise OptionError(f"option problems: expected {_listed(list(_PROBLEMS))}, got {problems!r}")
    if named is not None:
        raise OptionError("option problems: is a former name of the option mode; expected one of them, got both")
    return found


def _partition(split: str | None, most: str | None) -> int:
    if split is not None and most is not None:
        raise OptionError("option splitBytes: is a former name of maxPartitionBytes; expected one of them, got both")
    if most is not None:
        return _size("maxPartitionBytes", most)
    return PARTITION if split is None else _size("splitBytes", split)


def _names(value: str) -> tuple[str, ...]:
    names = tuple(item.strip() for item in value.split(","))
    if not all(names) or len(set(names)) != len(names):
        raise OptionError(f"option columns: expected names of columns, each once, as in schema,table; got {value!r}")
    return names


def _offset(value: str) -> str:
    word = value.strip()
    if word.lower() in (EARLIEST, LATEST):
        return word.lower()
    if not _OFFSET.fullmatch(word):
        raise OptionError(
            f"option startingOffset: expected earliest, latest or file:position, as in binlog.000003:4; got {value!r}"
        )
    return word


def _choice(kind: type[Choice], name: str, value: str) -> Choice:
    for item in kind:
        if item.lower() == value.strip().lower():
            return item
    raise OptionError(f"option {name}: expected {_listed([str(item) for item in kind])}, got {value!r}")


def _listed(words: list[str]) -> str:
    return " or ".join([", ".join(words[:-1]), words[-1]])


def _flag(name: str, value: str) -> bool:
    text = value.strip().lower()
    if text not in ("true", "false"):
        raise OptionError(f"option {name}: expected true or false, got {value!r}")
    return text == "true"


def _size(name: str, value: str) -> int:
    match = _SIZE.fullmatch(value.strip())
    size = int(match[1]) * _UNITS[match[2].lower()] if match else 0
    if not size:
        raise OptionError(f"option {name}: expected a number of bytes, such as 67108864 or 64m, got {value!r}")
    return size


def _types(value: str, content: Content) -> Iterator[int]:
    """Types by number or name; ``UPDATE_ROWS`` stands for ``UPDATE_ROWS_EVENT``."""
    named = {_short(event_name(code)): int(code) for code in EventType}
    for item in value.split(","):
        word = item.strip()
        code = int(word) if word.isdecimal() else named.get(_short(word.upper()))
        if code is None or code > 255:
            raise OptionError(
                f"option types: expected names or numbers of event types, such as UPDATE_ROWS_EVENT,39; got {word!r}"
            )
        if content is not Content.EVENTS and code not in ROWS_TYPES:
            raise OptionError(
                f"option types: {event_name(code)} has no rows; expected types of rows events (23 to 25, 30 to 32, 39),"
                " or content=events"
            )
        yield code


def _short(name: str) -> str:
    return _SUFFIXES.sub("", name)


def _tables(value: str) -> re.Pattern[str]:
    """``shop.orders, audit.*``: names as the log has them, ``*`` for any characters and ``?`` for one."""
    patterns = []
    for item in value.split(","):
        word = item.strip()
        if "." not in word.strip("."):
            raise OptionError(f"option tables: expected schema.table, with * for any, as in shop.*; got {word!r}")
        patterns.append("".join([".*" if c == "*" else "." if c == "?" else re.escape(c) for c in word]))
    return re.compile("|".join(patterns), re.DOTALL)
