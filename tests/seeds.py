"""The committed corpora of the fuzz targets, made from their seeds and all boundary vectors of the tests.

``python -m tests.seeds`` writes ``fuzz/corpora/<target>.zip``, the same bytes for the same inputs; with names of
targets only those. ``--from DIR`` adds what fuzzing found (the user's own corpora). ``--merge`` lets the fuzzer keep
only the smallest inputs that together reach all that all of them reach (needs the extra ``fuzz``).

Inputs that may crash other people's software stay out: a repository is read by everybody, and the seeds make them
again.
"""

from __future__ import annotations

import argparse
import gzip
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from conformance.reference.event_types import EventType
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.parse import parse_text
from conformance.reference.jsonb.text import format_text
from conformance.reference.tables.table_map import TableMap
from fuzz.data_files import CAPTURES
from fuzz.mutators.framing import split_file
from fuzz.prefixed import join
from fuzz.runner.corpora import LARGEST, MOST_FILES, archive, write_archive
from fuzz.runner.merge import merge_for_commit
from fuzz.runner.regressions import may_crash_others
from fuzz.runner.targets import find, own_targets
from fuzz.targets.rows import CODES
from fuzz.violation import attempt
from tests.reference.jsonb import jsonb_vectors
from tests.reference.partial import apply_vectors, path_vectors, update_vectors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fuzz.runner.targets import Target

DATA: Final = Path(__file__).with_name("data")
FILES: Final = ("alter_instant", "compressed_zblob_zlob", "gencols_json", "lob_update_3", "lob_versions", "sdi_blob")


def documents() -> Iterator[bytes]:
    """Sound and damaged documents, by hand and captured."""
    yield from (data for _, _, data in jsonb_vectors.ENCODINGS)
    yield from (data for _, data, *_ in jsonb_vectors.READINGS)
    yield from (encode(value) for _, value, *_ in jsonb_vectors.SIZES)
    for vector in update_vectors.load("partial-updates.json"):
        for key in ("before_jsonb_hex", "after_jsonb_hex"):
            if isinstance(vector.get(key), str):
                yield bytes.fromhex(vector[key])


def texts() -> Iterator[bytes]:
    """The JSON text of every document that has one."""
    for data in documents():
        value, refused = attempt(decode, data)
        text, _ = attempt(format_text, value)
        if refused is None and text is not None:
            yield text.encode("utf-8", "surrogateescape")


def paths() -> Iterator[bytes]:
    """Paths that parse, and paths that do not."""
    for text, *_ in (*path_vectors.PATHS, *path_vectors.BAD_PATHS):
        yield text.encode("utf-8", "surrogateescape")


def diffs() -> Iterator[bytes]:
    """Diffs of every form, and captured fields."""
    yield from (data for _, _, data in path_vectors.DIFFS)
    yield from (data for _, data, *_ in path_vectors.DIFF_READINGS)
    yield from (data for _, data, _ in apply_vectors.UNREADABLE)
    yield from (data for _, data in apply_vectors.STRICT_ONLY)
    yield from (field for _, field in captured_fields())


def captured_fields() -> Iterator[tuple[bytes, bytes]]:
    """(document, diffs) as a server wrote them."""
    for vector in update_vectors.load("partial-updates.json"):
        before, field = vector.get("before_jsonb_hex"), vector.get("after_image_field_hex")
        if vector.get("is_partial") and isinstance(before, str) and isinstance(field, str):
            yield bytes.fromhex(before), bytes.fromhex(field)[4:]


def applied() -> Iterator[bytes]:
    yield from (join(document, field) for document, field in captured_fields())


def expressions() -> Iterator[bytes]:
    """Documents with the expressions of the update vectors."""
    for row in update_vectors.EVALUATION:
        yield join(encode(parse_text(row.document)), row.sql.encode())
    for sql, *_ in update_vectors.REFUSED:
        yield join(encode([1]), sql.encode())


def events() -> Iterator[bytes]:
    """Events of the captured files."""
    for path in sorted((DATA / "binlogs").glob("*.binlog")):
        yield from split_file(path.read_bytes())[1:-1]


def files() -> Iterator[bytes]:
    """The captured files' beginnings, event by event up to the size of a seed."""
    for path in sorted((DATA / "binlogs").glob("*.binlog")):
        out = b""
        for piece in split_file(path.read_bytes()):
            if len(out) + len(piece) > LARGEST:
                break
            out += piece
        yield out


def maps_and_rows() -> Iterator[bytes]:
    """Rows events of the captured files with their TABLE_MAPs."""
    codes = {int(code): place for place, code in enumerate(CODES)}
    table = b""
    for event in events():
        if event[4] == EventType.TABLE_MAP:
            table = event[19:-4]
        elif event[4] in codes and table:
            yield bytes((codes[event[4]],)) + join(table, event[19:-4])


def maps() -> Iterator[bytes]:
    """The TABLE_MAPs of the captured files."""
    for event in events():
        if event[4] == EventType.TABLE_MAP and attempt(TableMap.decode, event[19:-4])[0]:
            yield b"\0" + event[19:-4]


def payloads() -> Iterator[bytes]:
    """The compressed transactions of the captured files."""
    yield from (event[19:-4] for event in events() if event[4] == EventType.TRANSACTION_PAYLOAD)


def write_captures(path: Path) -> None:
    """The data files that the targets of InnoDB change: recorded ones, in an archive that comes with the package."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name in FILES:
            data = gzip.decompress((DATA / "innodb" / f"{name}.ibd.gz").read_bytes())
            file.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED, 9)


VECTORS: Final[dict[str, tuple[Callable[[], Iterator[bytes]], ...]]] = {
    **dict.fromkeys(("jsonb-decode", "jsonb-differential", "jsonb-encode", "jsonb-text"), (documents,)),
    "json-text": (texts,),
    "path": (paths,),
    "diffs": (diffs,),
    "applier": (applied,),
    "sql-expression": (expressions,),
    **dict.fromkeys(("events", "explain"), (events,)),
    **dict.fromkeys(("file-stream", "log-text", "boundaries"), (files,)),
    "rows": (maps_and_rows,),
    "table-metadata": (maps,),
    "payload": (payloads,),
}


def inputs(target: Target, found: Path | None = None) -> list[bytes]:
    """All inputs of a target that may be committed, the smallest first."""
    own = [data for _, data in target.module().seeds()]
    own += [data for make in VECTORS.get(target.name, ()) for data in make()]
    if found is not None:
        own += [path.read_bytes() for path in sorted((found / target.name).glob("*")) if path.is_file()]
    room = min(LARGEST, target.max_len)
    fit = {data for data in own if 0 < len(data) <= room and not may_crash_others(data)}
    return sorted(fit, key=lambda data: (len(data), data))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="TARGET")
    parser.add_argument("--from", dest="found", type=Path, metavar="DIR", help="corpora of the user's own to add")
    parser.add_argument("--captures", action="store_true", help="write fuzz/captures.zip too")
    parser.add_argument("--merge", action="store_true", help="keep only what reaches more")
    options = parser.parse_args()
    if options.captures:
        write_captures(CAPTURES)
    for target in find(options.names) if options.names else own_targets():
        contents = inputs(target, options.found)
        path = archive(target)
        if options.merge:
            path.unlink(missing_ok=True)
            merged = merge_for_commit(target, contents, path)
            print(f"{target.name}: {len(contents)} inputs, {merged.kept} kept, {merged.size} bytes")  # noqa: T201
        else:
            write_archive(path, contents[:MOST_FILES])
            print(f"{target.name}: {min(MOST_FILES, len(contents))} of {len(contents)} inputs")  # noqa: T201


if __name__ == "__main__":
    main()
