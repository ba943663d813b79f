"""Changes of what a statement gets: rows, columns, values, warnings, errors, and packets that are none."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, cast

from conformance.servers.errors import ConnectionLost
from conformance.servers.recording.error_values import dump_error
from tests.doctored.shapes import Err, Ok, Rows, answers_of, with_answers, with_packets
from tests.servers.recording.altered import packets

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from conformance.servers.recording.files import Entry
    from conformance.servers.recording.values import Value
    from tests.doctored.shapes import Answer

    Change = Callable[[Random, Entry], Entry | None]

_WARNINGS: Final = ("Level", "Code", "Message")


def other_value(random: Random, value: bytes) -> bytes:
    """A value of the same kind: a digit for a digit, else a letter for a letter, else another byte."""
    places = [place for place, byte in enumerate(value) if 48 <= byte <= 57]
    places = places or [place for place, byte in enumerate(value) if chr(byte).isalpha()] or list(range(len(value)))
    if not places:
        return b"1"
    place = random.choice(places)
    letters = b"0123456789" if 48 <= value[place] <= 57 else b"abcdefgXYZ_"
    return value[:place] + bytes((random.choice(letters.replace(value[place : place + 1], b"")),)) + value[place + 1 :]


def _odd_value(random: Random, value: bytes) -> bytes:
    """A value of another kind."""
    odd = (b"", b"abc", b"-1", b"1e999", b"99999999999999999999", b"\xff\xfe\x80", b"\0", b"{", b'"', b"x" * 70000)
    return random.choice([other for other in (*odd, value * 2, value[: len(value) // 2]) if other != value])


def _in_answers(change: Callable[[Random, list[Answer]], list[Answer] | None]) -> Change:
    def apply(random: Random, entry: Entry) -> Entry | None:
        answers = answers_of(entry)
        changed = None if answers is None else change(random, list(answers))
        return None if changed is None or changed == answers else with_answers(entry, changed)

    return apply


def _of(kind: type, change: Callable[[Random, Any], Answer | None], wanted: Callable[..., bool] = bool) -> Change:
    """A change of one result of a kind."""

    def among(random: Random, answers: list[Answer]) -> list[Answer] | None:
        places = [place for place, each in enumerate(answers) if isinstance(each, kind) and wanted(each)]
        if not places:
            return None
        place = random.choice(places)
        changed = change(random, answers[place])
        return None if changed is None else [*answers[:place], changed, *answers[place + 1 :]]

    return _in_answers(among)


def _is_warnings(answer: Rows) -> bool:
    return answer.names == _WARNINGS


def _is_data(answer: Rows) -> bool:
    return answer.names != _WARNINGS


def _value(change: Callable[[Random, bytes | None], bytes | None], column: int | None = None) -> Callable[..., Answer]:
    def apply(random: Random, answer: Rows) -> Rows | None:
        if not answer.rows:
            return None
        at, place = random.randrange(len(answer.rows)), column
        if place is None:
            place = random.randrange(len(answer.columns))
        row = list(answer.rows[at])
        row[place] = change(random, row[place])
        return replace(answer, rows=(*answer.rows[:at], tuple(row), *answer.rows[at + 1 :]))

    return apply  # type: ignore[return-value]


def _null(_: Random, value: bytes | None) -> bytes | None:
    return b"0" if value is None else None


def _same_kind(random: Random, value: bytes | None) -> bytes:
    return other_value(random, value or b"")


def _other_kind(random: Random, value: bytes | None) -> bytes:
    return _odd_value(random, value or b"")


def _bad_text(random: Random, value: bytes | None) -> bytes:
    place = random.randrange(len(value or b"") + 1)
    return (value or b"")[:place] + b"\xc3\x28\xff" + (value or b"")[place:]


def _without_row(random: Random, answer: Rows) -> Rows | None:
    if not answer.rows:
        return None
    at = random.randrange(len(answer.rows))
    return replace(answer, rows=(*answer.rows[:at], *answer.rows[at + 1 :]))


def _without_rows(_: Random, answer: Rows) -> Rows:
    return replace(answer, rows=())


def _more_rows(random: Random, answer: Rows) -> Rows:
    extra = random.choice(answer.rows) if answer.rows else (b"1",) * len(answer.columns)
    return replace(answer, rows=(*answer.rows, extra))


def _turned(_: Random, answer: Rows) -> Rows:
    return replace(answer, rows=answer.rows[::-1])


def _without_column(random: Random, answer: Rows) -> Rows | None:
    if len(answer.columns) < 2:
        return None
    at = random.randrange(len(answer.columns))
    rows = tuple((*row[:at], *row[at + 1 :]) for row in answer.rows)
    return replace(answer, columns=(*answer.columns[:at], *answer.columns[at + 1 :]), rows=rows)


def _more_columns(random: Random, answer: Rows) -> Rows:
    at = random.randrange(len(answer.columns) + 1)
    rows = tuple((*row[:at], b"0", *row[at:]) for row in answer.rows)
    extra = random.choice(answer.columns)
    return replace(answer, columns=(*answer.columns[:at], extra, *answer.columns[at:]), rows=rows)


def _affected(random: Random, answer: Ok) -> Ok:
    return replace(answer, affected=max(0, answer.affected + random.choice((-1, 1, 1000))))


def _warned(random: Random, answer: Ok) -> Ok:
    return replace(answer, warnings=max(0, answer.warnings + random.choice((-1, 1, 65535))) % 65536)


def _info(random: Random, answer: Ok) -> Ok:
    return replace(answer, info=other_value(random, answer.info) if answer.info else b"\xffRows: 7")


_NUMBERS: Final = (1000, 1046, 1064, 1105, 1146, 1193, 1227, 1236, 1290, 2013, 3140, 3143, 3150, 65535)


def _number(random: Random, answer: Err) -> Err:
    return replace(answer, number=random.choice([number for number in _NUMBERS if number != answer.number]))


def _error_text(random: Random, answer: Err) -> Err:
    return replace(answer, text=_letters(random, answer.text))


def _letters(random: Random, text: bytes) -> bytes:
    """A letter that is another one."""
    places = [place for place, byte in enumerate(text) if chr(byte).isalpha() and byte < 128]
    if not places:
        return text + b"x"
    place = random.choice(places)
    return text[:place] + (b"q" if text[place : place + 1] != b"q" else b"k") + text[place + 1 :]


def _bad_error(random: Random, answer: Err) -> Err:
    return replace(answer, text=random.choice((b"", b"\xff\xfe", answer.text + b"\x80\0", b"y" * 70000)))


def _state(_: Random, answer: Err) -> Err:
    return replace(answer, state=b"HY000" if answer.state != b"HY000" else b"42S02")


def _fulfilled(_: Random, answer: Err) -> Ok:
    return Ok(0, 0, 2, 0, b"")


def _refused(random: Random, _: object) -> Err:
    return Err(random.choice(_NUMBERS), b"HY000", b"That is not what was asked for")


def _refused_last(random: Random, answers: list[Answer]) -> list[Answer]:
    """The server refuses a statement; behind an error nothing follows."""
    place = random.randrange(len(answers))
    return [*answers[:place], _refused(random, None)]


def _rows_for_ok(random: Random, answers: list[Answer]) -> list[Answer] | None:
    """A result of the other form."""
    place = random.randrange(len(answers))
    if isinstance(answers[place], Rows):
        answers[place] = Ok(0, 0, 2, 0, b"")
        return answers
    return None


def _fewer_results(random: Random, answers: list[Answer]) -> list[Answer] | None:
    if len(answers) < 2:
        return None
    del answers[random.randrange(len(answers))]
    return answers


def _raw(change: Callable[[Random, bytes], bytes]) -> Change:
    def apply(random: Random, entry: Entry) -> Entry | None:
        found = packets(entry)
        places = [place for place, packet in enumerate(found) if packet]
        if not places or answers_of(entry) is None:
            return None
        place = random.choice(places)
        changed = change(random, found[place])
        return with_packets(entry, [*found[:place], changed, *found[place + 1 :]]) if changed else None

    return apply


def _bit(random: Random, packet: bytes) -> bytes:
    place = random.randrange(len(packet))
    return packet[:place] + bytes((packet[place] ^ 1 << random.randrange(8),)) + packet[place + 1 :]


def _cut(random: Random, packet: bytes) -> bytes:
    return packet[: random.randrange(len(packet))]


def _lost(random: Random, entry: Entry) -> Entry | None:
    """The session ends amid the answer."""
    found = packets(entry)
    if not found:
        return None
    changed = with_packets(entry, found[: random.randrange(len(found))])
    error = dump_error(ConnectionLost("the server closed the connection"))
    blob, _ = cast("list[Value]", changed.answer)
    return replace(changed, answer=[blob, error])


ANSWERS: Final[dict[str, Change]] = {
    "rows: value": _of(Rows, _value(_same_kind), _is_data),
    "rows: value of another kind": _of(Rows, _value(_other_kind), _is_data),
    "rows: NULL and value": _of(Rows, _value(_null), _is_data),
    "rows: bytes that are no text": _of(Rows, _value(_bad_text), _is_data),
    "rows: one row missing": _of(Rows, _without_row, _is_data),
    "rows: all rows missing": _of(Rows, _without_rows, _is_data),
    "rows: one more row": _of(Rows, _more_rows, _is_data),
    "rows: in another order": _of(Rows, _turned, _is_data),
    "rows: one column missing": _of(Rows, _without_column, _is_data),
    "rows: one more column": _of(Rows, _more_columns, _is_data),
    "warnings: level": _of(Rows, _value(_other_kind, 0), _is_warnings),
    "warnings: number": _of(Rows, _value(_same_kind, 1), _is_warnings),
    "warnings: text": _of(Rows, _value(lambda random, value: _letters(random, value or b""), 2), _is_warnings),
    "warnings: one missing": _of(Rows, _without_row, _is_warnings),
    "warnings: one more": _of(Rows, _more_rows, _is_warnings),
    "done: rows changed": _of(Ok, _affected),
    "done: warnings counted": _of(Ok, _warned),
    "done: text": _of(Ok, _info),
    "error: number": _of(Err, _number),
    "error: text": _of(Err, _error_text),
    "error: text that is none": _of(Err, _bad_error),
    "error: state": _of(Err, _state),
    "error: missing": _of(Err, _fulfilled),
    "error: invented": _in_answers(_refused_last),
    "answer: no rows at all": _in_answers(_rows_for_ok),
    "answer: a result missing": _in_answers(_fewer_results),
    "answer: a bit of a packet": _raw(_bit),
    "answer: a packet cut": _raw(_cut),
    "answer: session lost": _lost,
}
