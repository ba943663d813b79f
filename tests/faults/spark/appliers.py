"""Faults of an applier and of the documents that it stores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.cases.by_hand import injection
from conformance.reference.binlog import images
from conformance.reference.errors import DecodeError, MysqlError, could_not_apply_diff
from conformance.reference.jsonb import encode
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.text import format_text
from conformance.reference.jsonb.values import Opaque
from conformance.reference.partial import apply
from conformance.reference.partial import diffs as frames
from conformance.reference.partial.diffs import Diff, Operation, RawDiff
from tests.faults.fault import Fault, Plant

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

    from conformance.reference.dialect import Dialect

Diffs = tuple[Diff, ...]


def _applied(change: Callable[[Any, bytes | None, Diffs, Any], bytes | None]) -> Plant:
    """``change`` applies diffs, with the right function as its first argument."""

    def plant(patch: pytest.MonkeyPatch) -> None:
        right = apply._applied

        def applied(stored: bytes | None, diffs: Any, *dialect: Dialect) -> bytes | None:
            return change(lambda stored, diffs: right(stored, diffs, *dialect), stored, tuple(diffs), dialect)

        patch.setattr(apply, "_applied", applied)

    return plant


def _diffs(change: Callable[[Diffs], Diffs]) -> Plant:
    return _applied(lambda right, stored, diffs, _: right(stored, change(diffs)))


def _refusing(which: Callable[[bytes | None, Diffs], bool], *, lenient: bool = False) -> Plant:
    """Diffs are refused with 3648. ``lenient``: not where the dialect takes a REPLACE that changes nothing."""

    def change(right: Any, stored: bytes | None, diffs: Diffs, dialect: Any) -> Any:
        strict = not dialect or dialect[0].behaviour.refuse_unchanging_replace
        if which(stored, diffs) and (strict or not lenient):
            raise could_not_apply_diff("planted")
        return right(stored, diffs)

    return _applied(change)


def _textual(diffs: Diffs) -> Diffs:
    return tuple(
        diff._replace(value=format_text(diff.value)[1:-1]) if isinstance(diff.value, Opaque) else diff for diff in diffs
    )


def _compacted(right: Any, stored: bytes | None, diffs: Diffs, _: Any) -> bytes | None:
    after: bytes | None = right(stored, diffs)
    return None if after is None else encode.encode(decode(after))


def _other_number(number: int) -> Plant:
    def change(right: Any, stored: bytes | None, diffs: Diffs, _: Any) -> Any:
        try:
            return right(stored, diffs)
        except MysqlError as error:
            raise MysqlError(number, "ER_PLANTED", "planted") from error

    return _applied(change)


def _null(change: Callable[[Any, Diffs], bytes | None]) -> Plant:
    return _applied(lambda right, stored, diffs, _: change(right, diffs) if stored is None else right(stored, diffs))


def _refuses_empty(right: Any, diffs: Diffs) -> bytes | None:
    if not diffs:
        raise could_not_apply_diff("planted")
    found: bytes | None = right(None, diffs)
    return found


def _stored(data: bytes) -> Plant:
    """Make the applier hand on these bytes, whatever it is given."""
    return lambda patch: patch.setattr(injection, "apply_field", lambda *_: data)


def _raising(error: Callable[[], Exception]) -> Plant:
    def refuse(*_: object) -> bytes:
        raise error()

    return lambda patch: patch.setattr(injection, "apply_field", refuse)


def _stored_as_found(patch: pytest.MonkeyPatch) -> None:
    right = apply.apply_field
    patch.setattr(injection, "apply_field", lambda stored, field, *rest: (right(stored, field, *rest), stored)[1])


def _frames(change: Callable[[Any, bytes], list[RawDiff]]) -> Plant:
    """Diffs are read in another way by the applier."""

    def plant(patch: pytest.MonkeyPatch) -> None:
        right = frames.split_diffs
        patch.setattr(frames, "split_diffs", lambda data: change(right, data))

    return plant


def _torn(right: Any, data: bytes) -> list[RawDiff]:
    """A diff that is cut off or has another operation does not count."""
    try:
        found: list[RawDiff] = right(data)
    except DecodeError as error:
        found = list(error.decoded)
    return found


def _masked(right: Any, data: bytes) -> list[RawDiff]:
    found: list[RawDiff] = right(bytes((data[0] % 3,)) + data[1:] if data else data)
    return found


def _any_options(patch: pytest.MonkeyPatch) -> None:
    right = images.read_shared_image

    def read(cursor: Any, table: Any) -> tuple[int, int | None]:
        if cursor.data[cursor.pos] > 1:
            cursor.pos += 1
            return 1, int.from_bytes(cursor.bitmap(len(table.json_columns), "bits", table.json_columns), "little")
        return right(cursor, table)

    patch.setattr(images, "read_shared_image", read)


def _damage_number(patch: pytest.MonkeyPatch) -> None:
    right = apply.apply_field

    def applied(stored: bytes | None, field: bytes, *rest: Any) -> bytes | None:
        try:
            return right(stored, field, *rest)
        except MysqlError as error:
            if error.number == 3649:
                raise could_not_apply_diff("planted") from error
            raise

    patch.setattr(injection, "apply_field", applied)


def _ordered(key: Callable[[Any], Any]) -> Plant:
    """Members of objects stand in another order."""

    def plant(patch: pytest.MonkeyPatch) -> None:
        patch.setattr(encode, "_known_keys", {})
        patch.setattr(encode, "_length_then_bytes", key)

    return plant


def _inserts(_: bytes | None, diffs: Diffs) -> bool:
    return any(diff.operation is Operation.INSERT for diff in diffs)


def _texts(_: bytes | None, diffs: Diffs) -> bool:
    return any(isinstance(diff.value, str) for diff in diffs)


def _several(_: bytes | None, diffs: Diffs) -> bool:
    return len(diffs) > 1


APPLIER_FAULTS = (
    Fault("apply/last-diff-forgotten", "", "It forgets the last diff.", _diffs(lambda diffs: diffs[:-1])),
    Fault("apply/first-diff-alone", "", "It applies the first diff alone.", _diffs(lambda diffs: diffs[:1])),
    Fault("apply/string-for-date", "", "It writes dates as text.", _diffs(_textual)),
    Fault("apply/inserts-skipped", "", "It skips each INSERT.",
          _diffs(lambda diffs: tuple(diff for diff in diffs if diff.operation is not Operation.INSERT))),
    Fault("apply/compacted", "", "It stores every document without holes.", _applied(_compacted)),
    Fault("apply/several-refused", "", "It refuses lists of several diffs.", _refusing(_several, lenient=True)),
    Fault("apply/texts-refused", "", "It refuses texts.", _refusing(_texts, lenient=True)),
    Fault("apply/inserts-refused", "", "It refuses each INSERT.", _refusing(_inserts)),
    Fault("apply/3649-for-3648", "", "It answers 3649 instead of 3648.", _other_number(3649)),
    Fault("apply/invalid-document", "", "It stores bytes that are no document.", _stored(b"\x0d\x00")),
    Fault("apply/other-error", "", "It answers an error of another kind.",
          _raising(lambda: MysqlError(1105, "ER_UNKNOWN_ERROR", "planted"))),
    Fault("apply/exception", "", "It ends itself.", _raising(lambda: ZeroDivisionError("planted"))),
    Fault("apply/nothing-stored", "", "It accepts diffs and stores the old document.", _stored_as_found),
    Fault("null/empty-list-refused", "", "It refuses an empty list on NULL.", _null(_refuses_empty)),
    Fault("null/stays-null", "", "NULL stays NULL under an empty list.",
          _null(lambda right, diffs: right(None, diffs) if diffs else None)),
    Fault("null/as-object", "", "It takes NULL as an empty object.",
          _null(lambda right, diffs: right(encode.encode({}), diffs))),
    Fault("null/diffs-ignored", "", "It makes a JSON null of NULL whatever the diffs.",
          _null(lambda right, _: right(None, ()))),
    Fault("empty-list/refused", "", "It refuses an empty list.", _refusing(lambda _, diffs: not diffs)),
    Fault("empty-list/makes-null", "", "It makes a JSON null of any document under an empty list.",
          _applied(lambda right, stored, diffs, _: right(stored if diffs else None, diffs))),
    Fault("damage/torn-diffs-skipped", "", "It skips a diff that it cannot read.", _frames(_torn)),
    Fault("damage/any-operation", "", "It takes operations above 2 modulo 3.", _frames(_masked)),
    Fault("damage/any-options", "", "It takes any value_options as 1.", _any_options),
    Fault("damage/3648-for-3649", "", "It answers 3648 instead of 3649.", _damage_number),
    Fault("order/of-the-text", "", "Members stand in the order of the text.", _ordered(lambda _: 0)),
    Fault("order/by-length-alone", "", "Members are ordered by length alone.", _ordered(lambda row: row[0])),
    Fault("order/by-first-byte", "", "Members are ordered by their first byte.", _ordered(lambda row: row[1][:1])),
)  # fmt: skip
"""Faults of the applier, its reader and the encoder (partial-update 6, jsonb 2, requirements FR4 and FR5)."""
