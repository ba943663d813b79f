"""The check of fields passes on a real file, and a wrong field is a problem under its requirement."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import pytest

from conformance.checks.lob_pages import check, run, tables
from conformance.checks.lob_pages.judge import JUDGED, Judge, KnownFile, KnownRow, compressed_types
from generators.draw import Stream
from tests.running import run as run_check

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conformance.servers.run.process import ProcessServer
    from tests.recorded import Recorded

pytestmark = pytest.mark.live

_ROWS: Final = 6
_INDEX_PAGE: Final = 17855
Stored = tuple[KnownFile, list[KnownRow]]


@pytest.fixture(scope="module")
def stored(server: ProcessServer) -> Iterator[Stored]:
    """Some documents and what is known of them; the second is updated, and its older version stays."""
    with server.connect() as session, server.schema(session) as schema, server.connect(database=schema) as reader:
        run.create(session)
        reader.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT")
        rows = run.known_rows(server, session, Stream("planted"), _ROWS)
        yield run.known_file(session), rows
        reader.execute("ROLLBACK")


@dataclass(frozen=True, slots=True)
class Field:
    """A field of the first page of its kind, or of the first entry there, with another number in it."""

    table: str
    field: str
    number: int
    page: str = "LOB_FIRST"
    at: int = 0

    def plant(self, file: KnownFile) -> KnownFile:
        start, fields = tables.TABLES[self.table]
        widths = dict(fields)
        before = [width for name, width in fields][: [name for name, _ in fields].index(self.field)]
        page = min(at for at, name in file.names.items() if name == self.page)
        at = page * file.page_size + self.at + start + sum(before)
        data = bytearray(file.data)
        data[at : at + widths[self.field]] = self.number.to_bytes(widths[self.field], "big")
        assert bytes(data) != file.data
        return replace(file, data=bytes(data))


def _entry(field: str, number: int) -> Callable[[KnownFile], KnownFile]:
    return Field("entry", field, number, at=tables.FIRST_ENTRY).plant


def _type_of_data_page(file: KnownFile) -> KnownFile:
    page = min(at for at, name in file.names.items() if name == "LOB_DATA")
    data = bytearray(file.data)
    data[page * file.page_size + 25] = tables.TYPES["ZLOB_DATA"]
    return replace(file, data=bytes(data))


def _other_name(file: KnownFile) -> KnownFile:
    page = min(at for at, name in file.names.items() if name == "LOB_DATA")
    return replace(file, names={**file.names, page: "BLOB"})


def _page_without_entry(file: KnownFile) -> KnownFile:
    return replace(file, names={**file.names, len(file.data) // file.page_size - 1: "LOB_DATA"})


def _reference(at: int) -> Callable[[KnownFile], KnownFile]:
    """Another number at an offset of the first row's reference, which stands behind 17 bytes of key and system data."""

    def plant(file: KnownFile) -> KnownFile:
        data = bytearray(file.data)
        page = next(at for at, name in file.names.items() if name == "INDEX") * file.page_size
        assert file.type(page // file.page_size) == _INDEX_PAGE
        data[data.index(b"\x80\0\0\0", page + 94) + 17 + at] ^= 1
        return replace(file, data=bytes(data))

    return plant


def _data_moved(file: KnownFile) -> KnownFile:
    start = min(at for at, name in file.names.items() if name == "LOB_FIRST") * file.page_size + tables.FIRST_DATA
    return replace(file, data=file.data[:start] + b"\0" + file.data[start:-1])


def _space_of_another(file: KnownFile) -> KnownFile:
    return replace(file, space=file.space + 1)


FAULTS: Final[tuple[tuple[str, str, Callable[[KnownFile], KnownFile]], ...]] = (
    ("LOB12", "another type of page", _type_of_data_page),
    ("LOB12", "another name in the buffer pool", _other_name),
    ("LOB14", "entry with the page of another", _entry("page", 4)),
    ("LOB14", "data page without an entry", _page_without_entry),
    ("LOB15", "another version", _reference(11)),
    ("LOB15", "another length", _reference(19)),
    ("LOB15", "another first page", _reference(7)),
    ("LOB15", "another space", _space_of_another),
    ("LOB16", "format 1", Field("first page", "format", 1).plant),
    ("LOB16", "frozen", Field("first page", "flags", 1).plant),
    ("LOB16", "version 9", Field("first page", "version", 9).plant),
    ("LOB16", "no last transaction", Field("first page", "last transaction", 0).plant),
    ("LOB16", "undo number of another", Field("first page", "last undo number", 77).plant),
    ("LOB16", "length 1", Field("first page", "data length", 1).plant),
    ("LOB16", "no creator", Field("first page", "transaction", 0).plant),
    ("LOB17", "no free entry", Field("first page", "free list", 0).plant),
    ("LOB17", "data one byte further", _data_moved),
    ("LOB18", "no format", Field("data page", "format", 1, "LOB_DATA").plant),
    ("LOB18", "length 1", Field("data page", "data length", 1, "LOB_DATA").plant),
    ("LOB18", "no creator", Field("data page", "transaction", 0, "LOB_DATA").plant),
    ("LOB19", "no creator", _entry("transaction", 0)),
    ("LOB19", "no modifier", _entry("modifier", 0)),
    ("LOB19", "previous entry", _entry("previous", 5 << 16)),
    ("LOB19", "undo number", _entry("undo number", 77)),
    ("LOB19", "version 9", _entry("version", 9)),
    ("LOB21", "length in the lower half", _entry("data length", 9)),
    ("LOB21", "length one less", _entry("data length", 15679 << 16)),
)  # fmt: skip


def _problems(file: KnownFile, rows: list[KnownRow], *, listed: bool = True) -> dict[str, int]:
    judge = Judge(file, short_lengths=listed)
    for row in rows:
        judge.row(row)
    judge.every_page_reached()
    return {name: sum(item.deviation is None for item in judge.problems[name]) for name in JUDGED}


def test_the_file_of_a_server_has_no_problem(stored: Stored) -> None:
    assert _problems(*stored) == dict.fromkeys(JUDGED, 0)


def test_a_length_of_two_bytes_fails_where_it_is_not_listed(stored: Stored) -> None:
    found = _problems(*stored, listed=False)
    assert {name for name, count in found.items() if count} == {"LOB19"}


@pytest.mark.parametrize(("requirement", "name", "plant"), [
    pytest.param(*fault, id=f"{fault[0]}-{fault[1]}", marks=pytest.mark.planted(fault[0])) for fault in FAULTS
])  # fmt: skip
def test_a_wrong_field_is_a_problem_of_its_requirement(
    stored: Stored, requirement: str, name: str, plant: Callable[[KnownFile], KnownFile]
) -> None:
    file, rows = stored
    assert _problems(plant(file), rows)[requirement] > 0, name


@pytest.fixture(scope="module")
def chunks(server: ProcessServer) -> KnownFile:
    """A file with every type of page of a compressed large object."""
    with server.connect() as session, server.schema(session):
        run.create(session, run.COMPRESSED)
        run.store_chunks(session, Stream("planted"))
        return run.known_file(session, page_size=run.COMPRESSED_PAGE)


def test_a_compressed_document_has_all_types_of_pages(chunks: KnownFile) -> None:
    pages, problems = compressed_types(chunks)
    assert pages >= 50
    assert problems == []


@pytest.mark.planted("LOB13")
@pytest.mark.parametrize("name", [name for name in tables.TYPES if name.startswith("ZLOB")])
def test_another_number_or_name_of_a_type_is_a_problem(chunks: KnownFile, name: str) -> None:
    page = next(at for at, called in chunks.names.items() if called == name)
    data = bytearray(chunks.data)
    data[page * chunks.page_size + 25] ^= 1
    assert compressed_types(replace(chunks, data=bytes(data)))[1]
    assert compressed_types(replace(chunks, names={**chunks.names, page: "BLOB"}))[1]


@pytest.mark.planted("LOB13")
def test_a_type_that_does_not_occur_is_a_problem(chunks: KnownFile) -> None:
    data = chunks.data.replace(b"\0\x1d\0\0\0\0\0\0\0\0", b"\0\0" + b"\0" * 8)
    names = {at: name for at, name in chunks.names.items() if name != "ZLOB_FRAG_ENTRY"}
    assert [problem.expected for problem in compressed_types(replace(chunks, data=data, names=names))[1]] == [
        "ZLOB_FRAG_ENTRY"
    ]


def test_a_server_passes(recorded: Recorded) -> None:
    run_check(check.test_fields, recorded.lab)
    assert recorded.cases("lob_pages/fields/LOB19") == recorded.cases("lob_pages/fields/LOB12") == 50
    assert recorded.failing == set()
