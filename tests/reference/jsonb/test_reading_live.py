"""A real server's answers about stored documents and diffs that no writer makes: free space, and wide decimals."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest

from conformance.cases.by_hand.injection import SCHEMA, TABLE_MAP, Injection, full_image, partial_image
from conformance.cases.case_sql import binlog_statement
from conformance.judge.damage.diverged import judge_injection
from conformance.reference.binlog.event import encode_event
from conformance.reference.errors import CodecError
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.layout import storage_free
from conformance.reference.jsonb.values import VAR_STRING, Opaque
from conformance.reference.jsonb.view import open_document
from conformance.reference.partial.diffs import Diff, Operation, encode_diffs
from conformance.reference.partial.paths import parse_path
from conformance.servers.errors import SqlError
from conformance.servers.roles.injector import SERVER_ID, Injector, launch_target, row_event
from conformance.servers.run.process import ProcessMaker
from generators import documents
from generators.draw import Stream
from generators.object_entries import containers
from tests.reference.jsonb.jsonb_vectors import FREE
from tests.reference.kit import original
from tests.reference.partial.apply_vectors import ODD_DECIMALS, WIDE_DECIMALS, wide_field

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.servers.install.installation import Installation

pytestmark = pytest.mark.live
_DOCUMENTS = 400
_SIZES = (documents.Size.SMALL, documents.Size.TINY)
_TABLE_MAP = encode_event(TABLE_MAP, server_id=SERVER_ID)


@pytest.fixture(scope="module")
def injector(installation: Installation) -> Iterator[Injector]:
    with Injector(launch_target(ProcessMaker(installation))) as running:
        yield running


def test_wide_decimals_are_read_and_not_written(injector: Injector) -> None:
    kit = original()
    cases = [
        Injection(name=rule, stored=encode(document), image=partial_image(wide_field(kit, diffs)))
        for rule, document, diffs, _ in WIDE_DECIMALS
    ]
    outcomes = {case.name: outcome.error for case, outcome in zip(cases, injector.run(cases), strict=True)}
    assert outcomes == {rule: number for rule, _, _, number in WIDE_DECIMALS}


def test_odd_decimals_are_written_anew(injector: Injector) -> None:
    kit = original()
    cases = [
        Injection(name=rule, stored=encode(document), image=partial_image(wide_field(kit, diffs)))
        for rule, document, diffs, _ in ODD_DECIMALS
    ]
    judged = {
        case.name: judge_injection(case, outcome) for case, outcome in zip(cases, injector.run(cases), strict=True)
    }
    assert {name: one.rule for name, one in judged.items()} == dict.fromkeys(judged, "")
    assert len(judged) == len(ODD_DECIMALS)


@pytest.mark.parametrize("payload", [b"\xff", b"a" * 200 + b"\xc3"])
def test_an_opaque_string_is_text_and_not_looked_at(payload: bytes, injector: Injector) -> None:
    field = encode_diffs([Diff(Operation.INSERT, parse_path("$.b"), [Opaque(VAR_STRING, payload)])])
    case = Injection(name="opaque", stored=encode({}), image=partial_image(field))
    (outcome,) = injector.run([case])
    judged = judge_injection(case, outcome)
    assert (judged.rule, judged.deviation) == ("what is stored cannot be read", "stores_invalid_text")


def test_free_space_is_what_the_server_says(injector: Injector) -> None:
    injector.load([encode({})])
    listed = [stored for _, stored, _ in FREE]
    moved = [_moved(number) for number in range(_DOCUMENTS)]
    said = {document: _server_says(injector, document) for document in (*listed, *moved)}
    assert said == {document: _reference_says(document) for document in said}
    assert [said[document] for document in listed] == [free for _, _, free in FREE]
    numbers = [said[document] for document in moved]
    assert numbers.count(None) > _DOCUMENTS / 10
    assert len(numbers) - numbers.count(None) > _DOCUMENTS / 10


def _server_says(injector: Injector, document: bytes) -> int | None:
    """``None``: 3142."""
    session = injector.session()
    session.execute("BEGIN")
    try:
        session.execute(binlog_statement(_TABLE_MAP, row_event((1, full_image(document)))))
        ((free,),) = session.execute(f"SELECT JSON_STORAGE_FREE(j) FROM {SCHEMA}.t").rows
        return int(free or 0)
    except SqlError as error:
        if error.number != 3142:
            raise
        return None
    finally:
        session.execute("ROLLBACK")


def _reference_says(document: bytes) -> int | None:
    try:
        return storage_free(document)
    except CodecError:
        return None


def _moved(number: int) -> bytes:
    """A document in which one key or value of some container is said to lie elsewhere in it; keys stay inside."""
    draw = Random(number)
    document = bytearray(encode(documents.document(Stream("moved", number), sizes=_SIZES)))
    views = [view for view in containers(open_document(bytes(document))) if view.count]
    if not views:
        return bytes(document)
    view = draw.choice(views)
    width = 4 if view.is_large else 2
    index = draw.randrange(view.count)
    if view.is_object and draw.random() < 0.5:
        length = view.key_place(index)[1]
        at, last = view.keys + (width + 2) * index, view.end - view.start - length
    else:
        index = view.first_placed(index, view.count)
        at, last = view.values + (width + 1) * index + 1, view.end - view.start - 1
    first = view.values_end - view.start
    if index >= 0 and first <= last:
        document[at : at + width] = draw.randint(first, last).to_bytes(width, "little")
    return bytes(document)
