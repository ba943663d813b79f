"""Faulty servers by their data files: pages of large objects, and the pages that shipped otherwise than documented."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from conformance.reference.innodb.pages import PageType
from tests.faults.servers.edits import after, refused
from tests.faults.servers.fault import server
from tests.faults.servers.pages import at_read, entries, number, page_0, pages, sdi_flag, sdi_root, without_records

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.faults.fault import Fault
    from tests.faults.servers.packets import Answer
    from tests.faults.servers.pages import ChangedFile, ChangedPage

_FIRST: Final = frozenset((PageType.LOB_FIRST,))
_DATA: Final = frozenset((PageType.LOB_DATA,))
_RECORDS: Final = frozenset((PageType.INDEX,))
_COMPRESSED: Final = frozenset((PageType.ZLOB_DATA, PageType.ZLOB_FRAG))
_SDI: Final = frozenset((PageType.SDI,))
_TYPE: Final = 24, 2


def _more(value: int) -> int:
    return value + 1


def _is(value: int) -> Callable[[int], int]:
    return lambda _: value


def _of_references(at: int, width: int) -> ChangedPage:
    """A number of each reference to a large object: behind the key, transaction and roll pointer of a record."""

    def changed(page: bytes) -> bytes:
        space = re.escape(page[34:38])
        for match in re.finditer(rb"\x80\0\0.{14}(" + space + rb"\0\0..\0\0.{6})", page, re.DOTALL):
            page = number(match.start(1) + at, width, _more)(page)
        return page

    return changed


def _fault(name: str, requirements: str, does: str, says: str, file: ChangedFile, **more: Any) -> Fault:
    checks = more.pop("checks", "test_fields")
    return server(name, requirements, does, says, checks=checks, file=file, **more)


def _shows(name: str, requirement: str, does: str, query: str, value: str) -> Fault:
    """The last statement of a Case about a page gives another value."""

    def shown(answer: Answer) -> Answer:
        return replace(answer, rows=((value.encode(),),)) if answer.rows else answer

    return server(name, requirement, does, re.escape(value), checks="test_pages", answer=after(query, shown))


def _behind(name: str, requirement: str, insert: str, does: str, query: str, value: str) -> Fault:
    """The same, behind the INSERT that matches."""
    inserted = [""]

    def shown(sql: str, answer: Answer) -> Answer:
        if sql.startswith("INSERT"):
            inserted[0] = sql
        found = re.search(query, sql) and re.search(insert, inserted[0]) and answer.rows
        return replace(answer, rows=((value.encode(),),)) if found else answer

    return server(name, requirement, does, value, checks="test_pages", answer=shown)


def _another_row(*cells: bytes) -> Callable[[Answer], Answer]:
    return lambda answer: replace(answer, rows=(*answer.rows, cells))


def _in_column(place: int, value: bytes) -> Callable[[Answer], Answer]:
    def changed(answer: Answer) -> Answer:
        rows = (tuple(value if at == place else cell for at, cell in enumerate(row)) for row in answer.rows)
        return replace(answer, rows=tuple(rows))

    return changed


def _without(kind: int, file: str = "") -> ChangedFile:
    return pages(_SDI, without_records(kind), file=file)


def _statements(name: str, requirement: str, does: str, says: str, file: ChangedFile) -> Fault:
    return _fault(name, requirement, does, says, file, checks="test_statements_that_change_a_table")


def _spaces(name: str, requirement: str, does: str, says: str, **how: Any) -> Fault:
    return server(name, requirement, does, says, checks="test_tablespaces_without_sdi", **how)


def _stripped(name: str, requirement: str, does: str, says: str, **how: Any) -> Fault:
    return server(name, requirement, does, says, checks="test_files_without_sdi", **how)


def _bytes(old: str, new: str) -> ChangedPage:
    """Other bytes wherever a page has these, as hexadecimal digits."""
    return lambda page: page.replace(bytes.fromhex(old), bytes.fromhex(new))


def _drawn(
    name: str, requirements: str, does: str, types: frozenset[int], old: str, new: str, read: int, *also: str
) -> Fault:
    """A fault in one read of a table's file, which gives other bytes: 0 is the read before the article's calls, 1
    behind them."""
    file = at_read({read: pages(types, _bytes(old, new))}, _MANY, r"^t\.ibd$")
    return _fault(name, requirements, does, "bytes|drawn|document", file, checks="test_documents", also=" ".join(also))


_MANY: Final = 1_000_000
_ABC, _XY, _MOVED, _NUMBER = "0361626303646566", "0258596303646566", "0c0a000c0d000258590458595a57", "0c0a0005c8010258"
_OBJECT: Final = "0c1c000c2000000c1e000c2000616263"
ARTICLE_FAULTS: Final = (
    _drawn("array-with-another-letter", "LOB5", "A string of an array is stored with another letter.", _RECORDS, _ABC,
           "0361626403646566", 0, "LOB6"),
    _drawn("array-with-another-length", "LOB5", "A string of an array is stored with another length.", _RECORDS, _ABC,
           "0261626303646566", 0, "LOB6"),
    _drawn("byte-behind-a-shorter-string", "LOB6", "The byte that a shorter string leaves is overwritten.", _RECORDS,
           _XY, "0258590003646566", 1),
    _drawn("shorter-string-of-the-old-length", "LOB6", "A shorter string keeps the length of the old one.", _RECORDS,
           _XY, "0358596303646566", 1),
    _drawn("moved-string-with-another-letter", "LOB7", "A longer string ends with another letter.", _RECORDS, _MOVED,
           "0c0a000c0d000258590458595a56", 1),
    _drawn("offset-of-before", "LOB7", "The offset of a longer string stays as it was.", _RECORDS, _MOVED,
           "0c0a000c0e000258590458595a57", 1),
    _drawn("number-of-the-next-value", "LOB8", "A number in the place of a string is one too high.", _RECORDS, _NUMBER,
           "0c0a0005c9010258", 1),
    _drawn("number-of-another-type", "LOB8", "A number in the place of a string has another type.", _RECORDS, _NUMBER,
           "0c0a0006c8010258", 1),
    _drawn("entries-not-moved", "LOB9", "Behind a removed member the entries are not moved.", _RECORDS, _OBJECT,
           "0c1c000c1e00000c1e000c2000616263", 1),
    _drawn("bytes-behind-the-entries", "LOB9", "The room behind the moved entries is overwritten.", _RECORDS, _OBJECT,
           "0c1c000c2000000000000c2000616263", 1),
    _drawn("range-not-written-off-page", "LOB11 LOB6", "A range of a large object is not written.", _FIRST | _DATA, _XY,
           _ABC, 1, "LOB7"),
    _drawn("byte-beyond-a-range", "LOB11 LOB7", "A byte beyond the ranges of a large object is written.",
           _FIRST | _DATA, _MOVED, "0c0a000c0d000258490458595a57", 1),
)  # fmt: skip
_READS: Final = 10  # of a table's file, by the statements of one block
_T: Final = r"/t\.ibd$"
_VERSION: Final = r"MAX\(HEX\(SUBSTR\(@file, n \* 16384 \+ 41"
SDI_FAULTS: Final = (
    _spaces("flag-of-temporary-tablespaces", "SDI2", "Temporary tablespaces have the flag of SDI.", "that must have",
            file=page_0(sdi_flag(there=True), file="ibtmp")),
    _spaces("root-in-temporary-tablespaces", "SDI2", "Temporary tablespaces have a root of SDI.", "that must have",
            file=page_0(sdi_root, file="ibtmp")),
    _spaces("flag-of-undo-tablespaces", "SDI3", "Undo tablespaces have the flag of SDI.", "that must have",
            file=page_0(sdi_flag(there=True), file="undo")),
    _spaces("root-in-undo-tablespaces", "SDI3", "Undo tablespaces have a root of SDI.", "that must have",
            file=page_0(sdi_root, file="undo")),
    _spaces("sdi-table-in-the-dictionary", "SDI55", "A table of SDI is listed.", "names a table of SDI",
            answer=after("INNODB_TABLES WHERE TABLE_ID", _another_row(b"SDI_7"))),
    _spaces("sdi-index-in-the-dictionary", "SDI55", "Indexes are listed with the root page of SDI.",
            "names an index of SDI", answer=after("FROM INFORMATION_SCHEMA.INNODB_INDEXES", _in_column(1, b"3"))),
    _spaces("no-table-beside-the-tablespace", "SDI67", "mysql.ibd has no table in its SDI.", "unique across types",
            file=_without(1, "mysql")),
    _spaces("no-tablespace-beside-the-table", "SDI67", "mysql.ibd has no tablespace in its SDI.", "unique across types",
            file=_without(2, "mysql")),
    _stripped("no-import-without-sdi", "SDI14", "A file without SDI is refused.", "is refused",
              answer=after("IMPORT TABLESPACE", refused(1815))),
    _stripped("no-change-without-sdi", "SDI14", "A table whose file had no SDI takes no row.", "is refused",
              answer=after("INSERT INTO t VALUES", refused(1815))),
    _stripped("sdi-made-without-a-flag", "SDI56", "SDI that is made anew has no flag.", "without its flag",
              file=page_0(sdi_flag(there=False), file=_T)),
    _stripped("sdi-made-without-the-table", "SDI56", "SDI that is made anew lacks the table.", "without its flag",
              file=_without(1, _T)),
    _statements("alter-keeps-the-record", "SDI53", "ALTER TABLE leaves the record as it was.", "does not update",
                at_read({1: 0}, _READS, _T)),
    _statements("alter-loses-the-record", "SDI53", "ALTER TABLE removes the record.", "does not update",
                at_read({1: _without(1)}, _READS, _T)),
    _statements("rollback-of-the-record-before", "SDI25", "A rollback brings an older record back.",
                "a rollback leaves", at_read({3: 0}, _READS, _T)),
    _statements("rollback-loses-the-record", "SDI25", "A rollback removes the record.", "a rollback leaves",
                at_read({7: _without(1)}, _READS, _T)),
    _statements("truncate-keeps-the-tablespace", "SDI63", "TRUNCATE leaves the file as it was.", "anew",
                at_read({9: 8}, _READS, _T)),
    _statements("truncate-loses-the-table", "SDI63", "TRUNCATE removes the record of the table.", "other records",
                at_read({9: _without(1)}, _READS, _T)),
)  # fmt: skip
DATA_FILE_FAULTS: Final = (
    *ARTICLE_FAULTS,
    *SDI_FAULTS,
    _fault("data-pages-of-the-type-index", "LOB12", "Pages of data have the type of index pages.", "LOB_DATA.*22",
           pages(_DATA, number(*_TYPE, _is(22)))),
    _fault("data-pages-of-no-type", "LOB12", "Pages of data have the type 0.", "LOB_DATA.*0",
           pages(_DATA, number(*_TYPE, _is(0)))),
    _fault("compressed-data-of-the-first-type", "LOB13", "Compressed data have the type of a first page.",
           "another type|does not occur", pages(_COMPRESSED, number(*_TYPE, _is(25))), checks="test_compressed_types"),
    _fault("compressed-types-one-higher", "LOB13", "The types of compressed pages are one higher.",
           "another type|does not occur", pages(_COMPRESSED, number(*_TYPE, _more)), checks="test_compressed_types"),
    _fault("data-page-with-a-wrong-byte", "LOB14", "A page of data has another byte than was stored.", "pieces",
           pages(_DATA, number(4_999, 1, _more))),
    _fault("data-page-with-a-wrong-first-byte", "LOB14", "The first byte of a page of data is another one.", "pieces",
           pages(_DATA, number(49, 1, _more))),
    _fault("reference-with-the-next-version", "LOB15", "The version of a reference is one too high.", "version",
           pages(_RECORDS, _of_references(8, 4))),
    _fault("reference-with-another-length", "LOB15", "The length of a reference is one too high.", "length",
           pages(_RECORDS, _of_references(16, 4))),
    _fault("first-page-with-a-flag", "LOB16", "The flag of a first page is set.", "flags",
           pages(_FIRST, number(39, 1, _is(1)))),
    _fault("first-page-of-the-next-transaction", "LOB16", "The last transaction in a first page is the next one.",
           "last transaction", pages(_FIRST, number(44, 6, _more))),
    _fault("entries-at-the-cost-of-data", "LOB17", "The data in a first page begin otherwise.",
           "data behind ten entries", pages(_FIRST, number(96 + 600, 1, _more)), also="LOB14"),
    _fault("free-entry-in-no-list", "LOB17", "The list of free entries in a first page is one entry short.",
           "entries of the first page", pages(_FIRST, number(80, 4, lambda value: max(0, value - 1)))),
    _fault("data-page-of-another-format", "LOB18", "The format of a page of data is 1.", "format",
           pages(_DATA, number(38, 1, _is(1)))),
    _fault("data-page-of-the-next-transaction", "LOB18", "The creator of a page of data is the next transaction.",
           "transaction", pages(_DATA, number(43, 6, _more))),
    _fault("entry-of-the-next-modifier", "LOB19", "The modifier of an index entry is the next transaction.", "modifier",
           pages(_FIRST, entries(34, 6, _more))),
    _fault("entry-of-the-next-undo-number", "LOB19", "The undo number of an index entry is one too high.",
           "undo number", pages(_FIRST, entries(40, 4, _more))),
    _fault("entry-longer-than-its-page", "LOB21 LOB18 LOB19", "The length in an index entry is one too high.",
           "(byte [0-9]+|data length); expected", pages(_FIRST, entries(52, 2, _more))),
    _fault("entry-shorter-than-its-page", "LOB21 LOB18 LOB19", "The length in an index entry is half of the piece.",
           "(byte [0-9]+|data length); expected", pages(_FIRST, entries(52, 2, lambda value: value // 2))),
    _shows("dictionary-flag-and-no-page", "SDI4", "mysql.ibd has the flag of SDI, and no root page.",
           "'flag set, root page", "flag set, root page of type 0000"),
    _shows("dictionary-without-an-answer", "SDI4", "The root page in mysql.ibd is one of records.",
           "'flag set, root page", "flag set, root page of type 45BF"),
    _shows("sdi-neither-before-nor-after", "SDI28",
           "When an ALTER TABLE has returned, the file has neither the SDI of before nor the new one.",
           "'the SDI of before', 'another SDI'", "no SDI"),
    _shows("sdi-in-part-after-ddl", "SDI28",
           "When an ALTER TABLE has returned, the file has the SDI of before up to its middle.",
           "'the SDI of before', 'another SDI'", "the SDI of before, in part"),
    _shows("sdi-without-a-copy", "SDI30", "A new file has no page of SDI.", r"COUNT\(\*\)\) FROM pages", "0"),
    _shows("sdi-in-three-copies", "SDI30", "A new file has three roots of SDI.", r"COUNT\(\*\)\) FROM pages", "3"),
    _shows("sdi-root-in-page-1-alone", "SDI31", "Page 1 has the roots, page 2 has not.", "'roots in pages 1 and 2'",
           "page 1: 0000000300000004, page 2: 0000000000000000, page 0: 0000000000000000"),
    _shows("sdi-root-nowhere", "SDI31", "No page has the root of the SDI.", "'roots in pages 1 and 2'",
           "page 1: 0000000000000000, page 2: 0000000000000000, page 0: 0000000000000000"),
    _shows("sdi-copies-of-one-id", "SDI10", "Two copies of the SDI have one index id.", r"GROUP_CONCAT\(HEX",
           "FFFFFFFFFFFFFFFF,FFFFFFFFFFFFFFFF"),
    _shows("sdi-of-an-ordinary-id", "SDI10", "The index of the SDI has an ordinary id.", r"GROUP_CONCAT\(HEX",
           "0000000000000099"),
    _behind("lob-of-one-page-at-version-3", "LOB24", r"'p', 9000", "An update of an object of one page counts twice.",
            _VERSION, "00000003"),
    _behind("lob-of-one-page-without-a-version", "LOB24", r"'p', 9000", "The version of an object of one page is 0.",
            _VERSION, "00000000"),
    _behind("lob-behind-a-prefix-at-version-3", "LOB25", r"'p', 40000", "An update behind a prefix counts twice.",
            _VERSION, "00000003"),
    _behind("lob-behind-a-prefix-without-a-version", "LOB25", r"'p', 40000",
            "The version of an object behind a prefix is 0.", _VERSION, "00000000"),
)  # fmt: skip
