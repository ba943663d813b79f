"""The archive of the suite: a zip of plain files, and its reader and writer.

``index.json`` says all about each Case. Each is a directory ``group/name`` with ``log.binlog``, ``expected.jsonl``, and
``resolved.jsonl`` where that differs. The same content gives the same bytes. An archive of data files has ``table.ibd``
in the place of the log.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from conformance.cases.decoder_case import DECODE, Allowed, DecoderCase, Equality
from conformance.judge.decoding.exact_json import parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

FORMAT: Final = 1  # of the archive
ARCHIVE: Final = Path(__file__).with_name("decoder-suite.zip")
EXPECTED, RESOLVED, INDEX = "expected.jsonl", "resolved.jsonl", "index.json"
README: Final = "README.md"
_EPOCH: Final = (1980, 1, 1, 0, 0, 0)
_README: Final = """\
# Binary logs for decoders, with the row changes in them

{count} Cases, version {version}. `index.json` says all about each; each is a directory `group/name`:

| file | holds |
|---|---|
| `log.binlog` | a binary log |
| `expected.jsonl` | its row changes, one JSON object a line, as `binlog-lab decode --format jsonl --types` prints |
| `resolved.jsonl` | the same with diffs applied; where it is missing, `expected.jsonl` says it all |

| member in `index.json` | says |
|---|---|
| `id`, `rev`, `digest` | the name, which never changes its meaning; the revision and a digest of the content |
| `title`, `why` | what the log has, and what users suffer when it is read wrongly |
| `requirements` | the requirements of the kit that the Case is about, the main one first |
| `allowed` | `changes`: exactly these; `changes-or-error`: or a refusal; `error`: these, and then an error |
| `equality` | the level that a pass takes: `structure`, `value`, or `type` (with the MySQL type of JSON leaves) |
| `needs` | `file`: only for decoders that read files as they are |
| `rolled_back` | numbers of changes that were never committed |
| `commit_order` | numbers of the others in the order of their commits, where the log has another one |
| `tolerated` | changes behind damage that may come too, with anything in the columns that `damaged` names |
| `file_name`, `sparse` | the file's own name; bytes of zeros, as ignorable events, behind its first event |
| `prepare`, `statements` | SQL that makes the log again, with FLUSH BINARY LOGS between; `prepare` makes its tables |
| `server_version`, `confirmed` | the server that wrote the log (empty: the kit), how the changes were confirmed |

A value of a JSON column is `{{"json": DOCUMENT}}`, or `{{"diffs": [...]}}` with `operation`, `path` and `value`.
Bytes are `{{"hex": "..."}}`. A leaf that has no plain JSON form is `{{"$type": NAME, "text": ...}}`.
"""
_README_OF_FILES: Final = """\
# Data files of InnoDB for their readers, with what is in them

{count} Cases, version {version}. `index.json` says all about each; each is a directory `group/name`:

| file | holds |
|---|---|
| `table.ibd` | a data file |
| `expected.jsonl` | its rows, or the entries of its dictionary information (SDI), each as an insert, one a line |

| member in `index.json` | says |
|---|---|
| `id`, `rev`, `digest` | the name, which never changes its meaning; the revision and a digest of the content |
| `role` | `rows`: the rows of the tables are asked for; `sdi`: the dictionary information |
| `title`, `why` | what the file has, and what users suffer when it is read wrongly |
| `requirements` | the requirements of the kit that the Case is about, the main one first |
| `allowed` | `changes`: exactly these; `changes-or-error`: or a refusal; `error`: these, and then an error |
| `tolerated`, `owed` | what damage took away may come too; numbers of that which must come if no error does |
| `definitions` | SHOW CREATE TABLE of the tables |
| `prepare`, `statements` | SQL that makes the file again |
| `server_version`, `confirmed` | the server that wrote the file, how the content was confirmed |

The order of rows and entries means nothing.
A value of a JSON column is `{{"json": DOCUMENT}}`, and bytes are `{{"hex": "..."}}`.
A leaf that has no plain JSON form is `{{"$type": NAME, "text": ...}}`.
"""


@dataclass(frozen=True, slots=True)
class Contents:
    """The kind of an archive: its name, what its Cases' files are called, and its README."""

    name: str
    file: str
    readme: str


LOGS: Final = Contents("decoder-suite", "log.binlog", _README)
DATA_FILES: Final = Contents("data-file-suite", "table.ibd", _README_OF_FILES)


@dataclass(frozen=True, slots=True)
class Entry:
    """A Case with its lines as they stand in the archive, which keep MySQL's text of numbers."""

    case: DecoderCase
    expected: tuple[str, ...]
    resolved: tuple[str, ...]

    @property
    def digest(self) -> str:
        """Changes with the log, with what is expected of a decoder, and with how it is judged; not with words."""
        case = self.case
        judged: list[object] = [case.allowed, case.equality, case.needs, case.rolled_back, case.file_name, case.sparse]
        if case.tolerated:
            judged.append(case.tolerated)
        if case.commit_order:
            judged.append({"commit_order": case.commit_order})
        if case.role != DECODE:
            judged += [case.role, case.definitions, case.owed]
        parts: list[bytes | str] = [case.log, "\n".join(self.expected), "\n".join(self.resolved), json.dumps(judged)]
        state = sha256()
        for part in parts:
            data = part if isinstance(part, bytes) else part.encode("utf-8", "surrogatepass")
            state.update(len(data).to_bytes(8, "big") + data)
        return state.hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Suite:
    """All Cases of one archive. ``version`` names a release of the suite, ``digest`` its exact content."""

    version: str
    digest: str
    entries: tuple[Entry, ...]
    name: str = LOGS.name

    @property
    def cases(self) -> tuple[DecoderCase, ...]:
        return tuple(entry.case for entry in self.entries)

    def case(self, identity: str) -> DecoderCase:
        """The Case with this id."""
        return next(case for case in self.cases if case.id == identity)


def suite_digest(entries: Iterable[Entry]) -> str:
    """The digest of the whole suite."""
    return sha256("".join(f"{item.case.id} {item.case.rev} {item.digest}\n" for item in entries).encode()).hexdigest()


def files_of(version: str, entries: Sequence[Entry], contents: Contents = LOGS) -> Iterator[tuple[str, bytes]]:
    """Names and bytes of all files of an archive, or of an export as plain files."""
    index = {
        "suite": contents.name,
        "format": FORMAT,
        "version": version,
        "digest": suite_digest(entries),
        "cases": [described(entry) for entry in entries],
    }
    yield README, contents.readme.format(count=len(entries), version=version).encode()
    yield INDEX, _dump(index)
    for entry in entries:
        place = entry.case.id
        yield f"{place}/{contents.file}", entry.case.log
        yield f"{place}/{EXPECTED}", _lines(entry.expected)
        if entry.resolved != entry.expected:
            yield f"{place}/{RESOLVED}", _lines(entry.resolved)


def write_archive(path: Path, version: str, entries: Sequence[Entry], contents: Contents = LOGS) -> None:
    """Write the archive: names in their order, times that never change."""
    with ZipFile(path, "w") as archive:
        for name, data in files_of(version, entries, contents):
            info = ZipInfo(name, _EPOCH)
            info.external_attr = 0o644 << 16
            archive.writestr(info, data, compress_type=ZIP_DEFLATED, compresslevel=9)


@cache
def load_suite(path: Path = ARCHIVE) -> Suite:
    """Read the archive of the package, or another one."""
    with ZipFile(path) as archive:
        index = _index(archive, path)
        contents = DATA_FILES if index["suite"] == DATA_FILES.name else LOGS
        entries = tuple(_read(archive, item, contents) for item in index["cases"])
    return Suite(index["version"], index["digest"], entries, contents.name)


def load_requirements(path: Path = ARCHIVE) -> dict[str, tuple[str, ...]]:
    """The requirements of each Case by its id, without reading logs and changes."""
    with ZipFile(path) as archive:
        return {item["id"]: tuple(item["requirements"]) for item in _index(archive, path)["cases"]}


def _index(archive: ZipFile, path: Path) -> dict[str, Any]:
    index: dict[str, Any] = json.loads(archive.read(INDEX))
    if index["format"] != FORMAT:
        raise ValueError(f"{path}: an archive of format {index['format']}; this reader knows {FORMAT}")
    return index


def _read(archive: ZipFile, data: dict[str, Any], contents: Contents) -> Entry:
    identity = data["id"]
    expected = _lines_of(archive.read(f"{identity}/{EXPECTED}"))
    name = f"{identity}/{RESOLVED}"
    resolved = _lines_of(archive.read(name)) if name in archive.NameToInfo else expected
    case = DecoderCase(
        id=data["id"],
        rev=data["rev"],
        title=data["title"],
        why=data["why"],
        requirements=tuple(data["requirements"]),
        needs=tuple(data["needs"]),
        allowed=Allowed(data["allowed"]),
        equality=Equality(data["equality"]),
        log=archive.read(f"{identity}/{contents.file}"),
        expected=tuple(map(parse, expected)),
        resolved=tuple(map(parse, resolved)),
        rolled_back=tuple(data["rolled_back"]),
        commit_order=tuple(data.get("commit_order", ())),
        server_version=data["server_version"],
        prepare=tuple(data["prepare"]),
        statements=tuple(data["statements"]),
        file_name=data["file_name"],
        sparse=data["sparse"],
        tolerated=tuple(data["tolerated"]),
        confirmed=data["confirmed"],
        role=data.get("role", DECODE),
        definitions=tuple(data.get("definitions", ())),
        owed=tuple(data.get("owed", ())),
    )
    return Entry(case, expected, resolved)


def described(entry: Entry) -> dict[str, Any]:
    """All about a Case but its log and its changes."""
    case = entry.case
    return {
        "id": case.id,
        "rev": case.rev,
        "digest": entry.digest,
        "title": case.title,
        "why": case.why,
        "requirements": case.requirements,
        "needs": case.needs,
        "allowed": case.allowed,
        "equality": case.equality,
        "rolled_back": case.rolled_back,
        **({"commit_order": case.commit_order} if case.commit_order else {}),
        "file_name": case.file_name,
        "sparse": case.sparse,
        "tolerated": case.tolerated,
        "changes": len(entry.expected),
        "server_version": case.server_version,
        "confirmed": case.confirmed,
        "prepare": case.prepare,
        "statements": case.statements,
        **({} if case.role == DECODE else {"role": case.role, "definitions": case.definitions, "owed": case.owed}),
    }


def _dump(data: dict[str, Any]) -> bytes:
    return (json.dumps(data, indent=1, ensure_ascii=False) + "\n").encode()


def _lines_of(data: bytes) -> tuple[str, ...]:
    """The lines of a file; only a line feed ends one, since a text may hold other characters that break lines."""
    return tuple(filter(None, data.decode().split("\n")))


def _lines(lines: Iterable[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()
