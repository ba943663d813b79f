"""A target that cannot fail is worth nothing: one fault for each, which its own seeds must find."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pytest

from conformance.reference.innodb.records import origins
from conformance.reference.partial.paths import Path
from fuzz.targets import load, target_names
from fuzz.violation import Violation

if TYPE_CHECKING:
    from collections.abc import Callable


def _plus(real: Any) -> Any:
    """Every integer is one more in the lenient reading."""

    def decode(data: bytes) -> Any:
        value = real(data)
        return value + 1 if type(value) is int and value < 99 else value

    return decode


def _true(real: Any) -> Any:
    """1 and true are the same: what Python would not notice."""
    return lambda data: True if real(data) == 1 else real(data)


def _shorter(real: Any) -> Any:
    return lambda *arguments, **options: real(*arguments, **options)[:-1]


def _without_the_first(real: Any) -> Any:
    return lambda *arguments, **options: list(real(*arguments, **options))[1:]


def _moved(real: Any) -> Any:
    """An event whose sum was checked has another time."""

    def decode(data: bytes, **options: Any) -> Any:
        event = real(data, **options)
        return event._replace(header=event.header._replace(timestamp=7)) if options["verify"] else event

    return decode


def _spans(real: Any) -> Any:
    def explain(*arguments: Any) -> Any:
        spans, problem = real(*arguments)
        return spans[:-1], problem

    return explain


def _lines(real: Any) -> Any:
    class Changes(real):  # type: ignore[misc]
        def event(self, event: Any, resolve: Any = None) -> Any:
            for line in super().event(event, resolve):
                yield line + "}"

    return Changes


def _forgetful(real: Any) -> Any:
    return lambda text: replace(real(text), entries=real(text).entries[:-1])


def _reordered(real: Any) -> Any:
    """The first two records of a page change places."""

    def uncompressed(page: Any, size: int) -> Any:
        made = real(page, size)
        found = list(origins(made))
        data = bytearray(made.data)
        data[97:99] = (found[-1] - 99).to_bytes(2, "big")
        return replace(made, data=bytes(data))

    return uncompressed


def _again(real: Any) -> Any:
    """A walk comes to its first page twice."""

    def leaf_records(*arguments: Any) -> Any:
        found = list(real(*arguments))
        return [*found, *((replace(page, number=9), record) for page, record in found), *found]

    return leaf_records


def _fewer_pieces(real: Any) -> Any:
    def open_first(*arguments: Any) -> Any:
        lob = real(*arguments)
        return replace(lob, entries=lob.entries[1:])

    return open_first


# target: what is replaced (a name in its module), and by what.
FAULTS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "applier": ("apply_field", lambda real: lambda stored, field: real(stored, field) and stored),
    "boundaries": ("read_groups", _without_the_first),
    "columns": ("write_value", lambda real: lambda part, value: real(part, value) + b"\0"),
    "diffs": ("encode_diffs", lambda real: lambda diffs: real(diffs[::-1])),
    "events": ("decode_event", _moved),
    "explain": ("explain_event", _spans),
    "file-stream": ("decode_file", _shorter),
    "gtid-set": ("PreviousGtids.parse", _forgetful),
    "innodb-page": ("uncompressed", _reordered),
    "innodb-record": ("leaf_records", _again),
    "json-text": ("parse_text", lambda real: lambda text, forms=None: real(text.lstrip("+"), forms)),
    "jsonb-compare": ("compare", lambda real: lambda a, b: abs(real(a, b))),
    "jsonb-decode": ("decode", _plus),
    "jsonb-differential": ("decode", _true),
    "jsonb-encode": ("encoded_size", lambda real: lambda value: real(value) + (value == [])),
    "jsonb-text": ("format_text", lambda real: lambda *arguments: real(*arguments).replace("true", "false")),
    "lob": ("open_first", _fewer_pieces),
    "log-text": ("RowChanges", _lines),
    "path": ("parse_path", lambda real: lambda text: Path(real(text).legs[:-1])),
    "payload": ("split_inner", _without_the_first),
    "rows": ("split_rows", _shorter),
    "sdi": ("pretty", lambda real: lambda text: real(text).replace(b"null", b"true")),
    "sql-expression": ("apply_field", lambda real: lambda stored, field: real(stored, field) and b"\x04\x00"),
    "statements": ("create_table", lambda real: lambda *a, **o: real(*a, **o).replace("(", "((", 1)),
    "table-metadata": ("decode_metadata", _shorter),
    "values": ("format_double", lambda _: lambda value: f"{value:.9g}"),
}


def test_every_target_has_its_fault() -> None:
    assert set(FAULTS) == set(target_names()) - {"empty"}


@pytest.mark.planted
@pytest.mark.parametrize("name", FAULTS)
def test_the_seeds_of_a_target_find_its_fault(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    target = load(name)
    place, faulty = FAULTS[name]
    owner: Any = import_module(f"fuzz.targets.{name.replace('-', '_')}")
    *path, attribute = place.split(".")
    for part in path:
        owner = getattr(owner, part)
    monkeypatch.setattr(owner, attribute, faulty(getattr(owner, attribute)))
    assert any(broken(target.check, data) for _, data in target.seeds())


def broken(check: Callable[[bytes], None], data: bytes) -> bool:
    try:
        check(data)
    except (Violation, ValueError, TypeError):
        return True
    return False
