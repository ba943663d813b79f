"""Scripts that show one difference by a library alone: log, the vendor's interface, what is expected, a verdict.

A script imports nothing of the kit. Exit status 1: the fault shows; 0: the library is right, and so the difference is
the adapter's; 3: this log decides nothing. A signal is the library's crash.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any, Final

from conformance.cases.decoder_case import DECODE, Equality
from conformance.checks.decoders.accusations import forms
from conformance.checks.decoders.accusations.vendors import source_of
from conformance.judge.decoding.difference import Difference, DifferenceKind
from conformance.judge.decoding.log_columns import tables_of
from conformance.judge.decoding.signatures import NUMBERS, QUOTED, signature_of
from conformance.reference.binlog.files import FileReader
from conformance.reference.binlog.rows import LazyRows
from conformance.reference.errors import CodecError
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.cases.decoder_case import DecoderCase
    from conformance.checks.decoders.accusations.vendors import Vendor
    from conformance.judge.decoding.judge import Judgement

_WIDTH: Final = 100
_CONTAINERS: Final = "$object"
_SCALARS: Final = ("str", "int", "float", "Decimal", "Number", "bytes", "date", "time", "datetime", "timedelta")


def script_of(
    vendor: Vendor, case: DecoderCase, judgement: Judgement, signature: str, server: Sequence[str] = ()
) -> str:
    """The script about one signature of a judgement. Its last statement is ``end(...)``.

    ``server``: lines that make ``SERVER``, which has the log for a client that connects.
    """
    log = base64.b64encode(case.log).decode()
    lines = [log[start : start + _WIDTH] for start in range(0, len(log), _WIDTH)] or [""]
    about = judgement.message.replace("\\", "\\\\").replace('"""', "'''")
    return "\n".join([
        f'"""{vendor.product}: {signature}', "", about, "",
        f"Case {case.id}: {case.title}", f"Needs: {vendor.needs}", '"""', "",
        "import base64", "import datetime as dt", "from decimal import Decimal", "",
        vendor.source, "", source_of("tail"), "",
        *(server or ('LOG = base64.b64decode("""', *lines, '""")')), "",
        *([] if case.role == DECODE else [f"ROLE = {case.role!r}", ""]),
        f"signal.alarm({vendor.seconds})",
        f"found, error = read({'None' if server else 'LOG'})",
        *_body(vendor, case, judgement, signature), "",
    ])  # fmt: skip


def _body(vendor: Vendor, case: DecoderCase, judgement: Judgement, signature: str) -> Iterator[str]:
    """Yield the lines that compare what is expected with what came, and say which of the two makes a fault."""
    if judgement.signature == signature:
        if judgement.verdict in (Verdict.CRASH, Verdict.TIMEOUT):
            ends = '"undecided" if error is not None else "as expected"' if vendor.connects else '"as expected"'
            yield f'end("an answer", f"{{len(found)}} row changes, {{error!r}}", {ends})'
            return
        if judgement.verdict is Verdict.REFUSED:
            yield f"expected = {len(case.whole)}"
            if vendor.connects:  # the connection may have errors of its own
                words = judgement.signature.partition(": ")[2]
                yield f"if error is not None and not alike(error, {words!r}, {NUMBERS.pattern!r}, {QUOTED.pattern!r}):"
                yield f'    end({f"the error {words}"!r}, repr(error), "undecided")'
            yield "said = [one for row in found for image in row[1:] for one in (image or {}).values() if told(one)]"
            yield 'got = f"{len(found)} row changes, {error!r} {said}"'
            yield (
                'end(f"{expected} row changes", got, "FAULT" if error is not None or said else '
                '"as expected" if len(found) == expected else "undecided")'
            )
            return
        if judgement.verdict is Verdict.LENIENT and not _differences(judgement, signature):
            damaged = sorted({name for change in case.tolerated for name in change["damaged"]})
            if vendor.unread and damaged:  # documents that the library gives as they are, it has not read
                yield "images = [image for row in found for image in row[1:] if image]"
                yield f"values = [image.get(name) for image in images for name in {damaged!r}]"
                yield "if any(isinstance(value, bytes) for value in values):"
                yield '    end("an error, or the bytes as they are", values, "as expected")'
            yield 'end("an error: the log is damaged", repr(error), "FAULT" if error is None else "as expected")'
            return
    yield from _of_difference(vendor, case, judgement, signature)


def _differences(judgement: Judgement, signature: str) -> list[Difference]:
    return [item for item in judgement.differences if signature_of(item) == signature]


def _of_difference(vendor: Vendor, case: DecoderCase, judgement: Judgement, signature: str) -> Iterator[str]:
    found = _differences(judgement, signature)
    if not found:
        yield 'end("nothing that is known here", error, "undecided")'
        return
    item = found[0]
    if vendor.asks_names and item.kind is DifferenceKind.ABSENT_AS_NULL and "@" in item.place:
        yield 'end("names of columns, of which the library asks the server", found, "undecided")'
        return
    if vendor.no_date_is_null and item.kind is DifferenceKind.NULL and item.what.startswith(("DATE", "TIMESTAMP")):
        yield f'end({"null, as is documented, for " + item.expected!r}, found, "as expected")'
        return
    if item.kind is DifferenceKind.MISSING_CHANGE:
        yield f"expected = {len(case.whole)}"
        yield (
            'end(f"{expected} row changes", f"{len(found)} row changes, {error!r}", "FAULT" if len(found) < expected '
            'and error is None else "as expected" if len(found) == expected else "undecided")'
        )
        return
    if item.kind in (DifferenceKind.EXTRA_CHANGE, DifferenceKind.REPEATED_CHANGE):
        yield f"expected = {len(case.whole)}"
        yield (
            'end(f"{expected} row changes", f"{len(found)} row changes", '
            '"FAULT" if len(found) > expected else "as expected")'
        )
        return
    yield from _of_value(case, judgement, item)


def _of_value(case: DecoderCase, judgement: Judgement, item: Difference) -> Iterator[str]:
    """A value at a place of one row change: ``changes[3].after.c``, perhaps inside a document or a list of diffs."""
    undecided = 'end("a value whose forms are not known here", [row for row in found], "undecided")'
    parts = item.place.split(".", 3)
    if item.change is None or len(parts) < 3 or parts[1] not in ("before", "after"):
        yield undecided
        return
    number, side, column = item.change, parts[1], parts[2]
    change = case.whole[number]
    image = change.get(side) or {}
    column = next((name for name in image if item.place.startswith(f"{parts[0]}.{side}.{name}")), column)
    rest = item.place[len(f"{parts[0]}.{side}.{column}") :].removeprefix(".")
    lost = sum(
        one.kind is DifferenceKind.MISSING_CHANGE and (one.change or 0) < number for one in judgement.differences
    )
    yield f"row = found[{number - lost}] if len(found) > {number - lost} else (None, None, None)"
    yield f"values = row[{1 if side == 'before' else 2}] or {{}}"
    table = tables_of(case).of(change)
    place = f"@{table.places[column] + 1}" if table is not None and column in table.places else column
    yield f"got = values.get({column!r}, values.get({place!r}, ABSENT))"  # a log may have no names
    if item.kind not in (DifferenceKind.ABSENT_AS_NULL, DifferenceKind.MISSING_COLUMN):
        yield "if got is ABSENT:"
        yield '    end("a value of this column", got, "undecided")'
    if item.kind is DifferenceKind.ABSENT_AS_NULL:
        yield (
            'end("no such column in the image", got, "undecided" if not values else '
            '"as expected" if got is ABSENT else "FAULT")'
        )
        return
    if item.kind is DifferenceKind.MISSING_COLUMN:
        yield f'end({image[column]!r}, got, "undecided" if not values else "FAULT" if got is ABSENT else "as expected")'
        return
    yield from _compared(case, item, number, side, column, image.get(column), rest)


def _compared(
    case: DecoderCase, item: Difference, number: int, side: str, column: str, expected: Any, rest: str
) -> Iterator[str]:
    if item.kind is DifferenceKind.MISSING_DIFF:
        yield f"expected = {expected['diffs']!r}"
        yield "came = len(got) if isinstance(got, (list, tuple)) else 1"
        yield (
            'end(f"{len(expected)} diffs: {expected}", f"{came}: {shown(got)}", '
            '"FAULT" if came < len(expected) else "as expected")'
        )
        return
    if rest:
        yield from _inside(expected, rest, item)
        return
    if item.kind is DifferenceKind.NULL and isinstance(expected, dict) and "json" in expected:
        yield (
            f'end("the JSON document {expected["json"]!r}", got, "FAULT" if got is None else '
            '"as expected" if got is not ABSENT else "undecided")'
        )
        return
    if case.role != DECODE and isinstance(expected, dict) and "json" in expected:
        yield 'end("a JSON document", shown(got), "FAULT" if got is None or isinstance(got, bytes) else "undecided")'
        return
    known = tables_of(case).of(case.whole[number])
    info = None if known is None else known.column(column)
    if info is not None and info.type == "GEOMETRY":  # objects of points have neither SRID nor type: no known form
        yield "if isinstance(got, (dict, list)):"
        yield '    end("a geometry", got, "undecided")'
    stored = _stored(case, number, side, column)
    wanted = [] if info is None else forms.of_column(info, expected, stored, whole=item.level is Equality.TYPE)
    yield from _verdict(expected, wanted, told=expected is not None)


def _inside(expected: Any, rest: str, item: Difference) -> Iterator[str]:
    """A value inside of a document, or of the value of a diff."""
    document: Any
    if rest.startswith("diffs["):
        which, _, field = rest.removeprefix("diffs[").partition("].")
        diff = expected["diffs"][int(which)]
        yield f"got = got[{which}] if isinstance(got, (list, tuple)) else got"
        if not field.startswith("value") or "value" not in diff:
            yield 'end("a diff", shown(got), "undecided")'
            return
        yield 'got = getattr(got, "value", ABSENT)'
        document, path, start = diff["value"], field, "value"
    elif isinstance(expected, dict) and "json" in expected:
        document, path, start = expected["json"], rest, "$"
    else:
        yield 'end("a document", got, "undecided")'
        return
    found = next((steps for steps in _places(document, start) if steps[0] == path), None)
    if found is None:
        yield 'end("no such place", got, "undecided")'
        return
    _, steps, leaf = found
    yield f"got = inside(got, {list(steps)!r})"
    if item.kind is DifferenceKind.TYPE:
        kind = item.what.removeprefix("JSON ")
        if kind == "DECIMAL":  # the scale belongs to the type
            yield f'got = str(got) if type(got).__name__ == "Decimal" and f"{{got:f}}" != {leaf["text"]!r} else got'
        yield (
            f"end({f'a value of the type {kind}'!r}, shown(got), "
            f'"as expected" if type(got).__name__ in {forms.telling(kind)!r} else '
            f'"FAULT" if type(got).__name__ in {_SCALARS!r} else "undecided")'
        )
        return
    yield from _verdict(leaf, forms.of_leaf(leaf))


def _places(document: Any, place: str, steps: tuple[Any, ...] = ()) -> Iterator[tuple[str, tuple[Any, ...], Any]]:
    """Every place of a document, as the judge writes it, with the steps to it and the value."""
    yield place, steps, document
    if isinstance(document, list):
        for number, value in enumerate(document):
            yield from _places(value, f"{place}[{number}]", (*steps, number))
    elif isinstance(document, dict) and "$type" not in document:
        members = dict(document[_CONTAINERS]) if _CONTAINERS in document else document
        for key, value in members.items():
            yield from _places(value, f"{place}.{key}", (*steps, key))


def _verdict(expected: Any, wanted: list[str], *, told: bool = False) -> Iterator[str]:
    """``told``: where the library says itself that it gives nothing, that is no loss without a word."""
    yield f"forms = [{', '.join(dict.fromkeys(wanted))}]  # each of them is right"
    right = "any(same(got, form) for form in forms)"
    said = " or told(got)" if told else ""
    yield (
        f'end(f"{{forms[0]!r}}" if forms else {str(expected)!r}, shown(got), '
        f'"undecided" if not forms or not found else "as expected" if {right}{said} else "FAULT")'
    )


def _stored(case: DecoderCase, number: int, side: str, column: str) -> Any:
    """The value as the log has it: of text and documents, the bytes."""
    from conformance.requirements.reading import rules_of

    reader = FileReader(expand=True, verify=False, rules_for=rules_of)
    reader.feed(case.log)
    seen = 0
    try:
        for event in reader.events():
            if not isinstance(event.body, LazyRows):
                continue
            for row in event.body.rows():
                if seen == number:
                    return _of_row(case, number, side, column, row)
                seen += 1
    except CodecError:
        pass
    return None


def _of_row(case: DecoderCase, number: int, side: str, column: str, row: Any) -> Any:
    image = list(case.whole[number].get(side) or {})
    values = row.before if side == "before" else row.after
    return values[image.index(column)] if values is not None and column in image and len(image) == len(values) else None
