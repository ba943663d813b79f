"""Kinds of inputs, and what the reference, the Cases, the judge and the generators say of each: the same everywhere.

A kind is a function that yields one answer for each input. An answer is ASCII text: the value's ``ascii()``, or the
whole text of the error. The inputs depend on nothing but the files of the checkout.
"""

from __future__ import annotations

import gzip
import json
import random
import re
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from conformance.cases.files import dump_case, load_any_case
from conformance.cases.predict import Model
from conformance.judge.decoding import exact_json, moments, numbers
from conformance.judge.decoding.binary import bytes_of_form
from conformance.judge.pseudo_sql_reader import parse_rows
from conformance.reference.binlog.gtid_set import PreviousGtids
from conformance.reference.dialect import JsonForms
from conformance.reference.encryption.keyring import Keyring
from conformance.reference.errors import CodecError
from conformance.reference.innodb.ibd2sdi_output import pretty
from conformance.reference.jsonb.compare import compare
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.layout import decode_strict, storage_free
from conformance.reference.jsonb.parse import parse_text
from conformance.reference.jsonb.stored_text import document_text
from conformance.reference.jsonb.text import format_pretty, format_text
from conformance.reference.jsonb.values import UInt
from conformance.reference.partial.paths import is_identifier, parse_path
from conformance.reference.sql.expressions import parse_expression
from conformance.reference.sql.row_expressions import RowFacts, read_expression
from conformance.reference.sql.statement_words import split_words
from conformance.reference.sql.tokens import tokenize
from conformance.reference.tables.create_table import parse_definition
from conformance.reference.text.annotated_hex import as_text
from fuzz import violation
from fuzz.runner.corpora import COMMITTED, REGRESSIONS, read_archive
from fuzz.targets import load, target_names
from generators.cases import update_case
from generators.draw import Stream
from generators.tables import SELECTOR
from tests.builds.answers import COMMANDS, FOLDERS, answer, damaged
from tests.prediction.odd_answers import RECORDED, _made, foretold_sum, sums
from tests.reference.jsonb.mutated_texts import mutated

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from conformance.cases.predict import StepPrediction
    from conformance.cases.session import Session
    from conformance.cases.update_case import Step, UpdateCase
    from conformance.reference.tables.definitions import Table
    from generators.cases import Row

DATA: Final = Path(__file__).parents[1] / "data"
# Forms that say nothing: of an enumeration's number (compiled code has the number alone), of functions, of places.
_NUMBER: Final = re.compile(r"<\w+\.\w+: ([0-9]+)>")
_ADDRESS: Final = re.compile(r" at 0x[0-9a-f]+")
_FUNCTION: Final = re.compile(r"<(?:[\w.]*function|built-in|bound|[\w.]*generator object)(?:[^<>]|<\w+>)*>")
_POINTS: Final = [point for point in range(0x110000) if not 0xD800 <= point < 0xE000]


def said(function: Callable[..., object], *arguments: object, declared: type[Exception] = CodecError) -> str:
    """The value, or the text of a declared error; another error by its kind, as its words are Python's."""
    try:
        value = function(*arguments)
    except declared as error:
        return f"{getattr(error, 'code', '')} {str(error)!a}"
    except Exception as error:  # noqa: BLE001 - some readers raise what their callers catch
        return f"not declared: {type(error).__name__}"
    return form_of(value)


def form_of(value: object) -> str:
    """``ascii()`` of a value, the same for both builds."""
    return _ADDRESS.sub("", _FUNCTION.sub("<a function>", _NUMBER.sub(r"\1", ascii(value))))


def changed(data: bytes, count: int, key: str) -> Iterator[bytes]:
    """``count`` forms of some bytes with a few of them changed, left out or repeated."""
    draw = random.Random(f"{key} {len(data)} {data[:64].hex()}")
    for _ in range(count):
        place, form = draw.randrange(len(data) + 1), data
        match draw.randrange(6):
            case 0 | 1 | 2 if place < len(data):
                form = data[:place] + bytes((data[place] ^ 1 << draw.randrange(8),)) + data[place + 1 :]
            case 3:
                form = data[:place]
            case 4:
                form = data[:place] + data[draw.randrange(len(data) + 1) :]
            case _:
                form = (
                    data[:place]
                    + draw.choice((b"\xff", b"\0", b"\xc3\xa9", b"\xd9\xa3", b"\xe0\xa2\x97"))
                    + data[place:]
                )
        yield form


# --- text ------------------------------------------------------------------------------------------------------------


def json_texts(full: bool) -> Iterator[str]:
    """Mutated JSON texts: value, bytes and text, or the refusal; read as new and old versions do."""
    old = JsonForms(text_double="fast")

    def every(text: str) -> tuple[object, ...]:
        value = parse_text(text)
        return value, encode(value).hex(), format_text(value), format_pretty(value)

    for text in mutated(60_000 if full else 6000):
        yield f"{said(every, text)} {said(parse_text, text, old)}"


def paths(full: bool) -> Iterator[str]:
    """Mutated JSON paths: legs and text, or the refusal."""
    draw = random.Random("paths")
    pieces = ("$", ".", "[", "]", "*", "**", "last", "-", " to ", " ", "0", "12", "4294967296", "a", "é", "\u0663", '"',
              "\\", '"b c"', '"\\u0041"', '"\\ud83d"', "\u00a0", "\u0897", "\U0001f600", "\n", "_", "$x", "'", "\ud800",
              "\udc80", "[1 to last]", "[last-1]", ".k", ".k", "[0]")  # fmt: skip
    for _ in range(20_000 if full else 3000):
        text = "$" + "".join(draw.choice(pieces) for _ in range(draw.randrange(7)))
        yield f"{said(parse_path, text)} {said(lambda each: str(parse_path(each)), text)}"


def identifiers(full: bool) -> Iterator[str]:
    """Code points as names in a path: alone, and behind a letter."""
    for point in _POINTS if full else _POINTS[::17]:
        yield f"{is_identifier(chr(point))}{is_identifier('a' + chr(point))}"


def code_points(full: bool) -> Iterator[str]:
    """Code points where text is read or shown: names of SQL in two cases, numbers, white space, words of errors."""
    row = RowFacts({"j": encode({"a": 1})}, {})
    for point in [*_POINTS[:: 11 if full else 401], *_SPECIAL]:
        char = chr(point)
        other = _OTHER_CASE.get(char, char)
        yield " ".join(
            (
                said(split_words, f"a{char}1 {char} 'x'"),
                said(parse_expression, f"JSON_SET(j, '$.a', {char}, 1)"),
                said(parse_expression, f"JSON_SET(j, '$.a', 0x41{char})"),
                said(read_expression, f"JSON_SET({char}, '$.a{char}', '{char}1')", row),
                said(
                    parse_definition,
                    f"CREATE TABLE t ({char}A INT, {other}b CHAR({char}), KEY ({other}a))",
                ),
                said(parse_definition, f"CREATE TABLE t (a{char} INT DEFAULT {char})"),
                said(PreviousGtids.parse, f"3e11fa47-71ca-11e1-9e33-c80aa9429562:{char}:{char}"),
                as_text(char.encode()).encode("ascii", "backslashreplace").decode(),
                said(numbers.number_in, char),
                said(moments.moment_of, "DATE", f"202{char}-01-01"),
            )
        )


_OTHER_CASE: Final = {
    "\xe9": "\xc9", "\xdf": "\u1e9e", "\u017f": "S", "\u0264": "\ua7cb", "\u019b": "\ua7dc", "\u1c8a": "\u1c89",
    "\u03c3": "\u03a3",
}  # fmt: skip
# Code points whose case, digits or printing came with Unicode 15 and 16, and some of the oldest.
_SPECIAL: Final = [
    *range(0x250), 0x264, 0x19B, 0x660, 0x663, 0x897, 0x1C89, 0x1C8A, 0x2126, 0x212A, 0x2028, 0x3000, 0xA7CB, 0xA7CC,
    0xA7DA, 0xA7DC, 0xFEFF, 0xFF21, 0x10D40, 0x10D50, 0x11F50, 0x16D70, 0x1CCF0, 0x1E4F0, 0x1E5F1, 0x1F600,
    0x1FAE9, 0x31350,
]  # fmt: skip


# --- SQL -------------------------------------------------------------------------------------------------------------


def expressions(full: bool) -> Iterator[str]:
    """The recorded odd expressions and sums, and mutated ones: the document that is predicted, or the refusal."""
    recorded = list(json.loads(RECORDED.read_text("utf-8"))["odd"])
    for sql in recorded if full else recorded[::3]:
        yield said(_made, sql)
        for form in changed(sql.encode(), 5 if full else 1, "sql"):
            yield said(_made, form.decode("utf-8", "replace"))
    for number, sql in enumerate(sums()):
        if full or not number % 10:
            yield said(foretold_sum, sql)


def definitions(full: bool) -> Iterator[str]:
    """Mutated CREATE TABLE statements: the table, or the refusal."""
    for sql in _DEFINITIONS:
        yield said(parse_definition, sql)
        for form in changed(sql.encode(), 2000 if full else 200, "definition"):
            yield said(parse_definition, form.decode("utf-8", "replace"))


_DEFINITIONS: Final = (
    """CREATE TABLE `t` (`id` int NOT NULL AUTO_INCREMENT, `Ä` varchar(20) CHARACTER SET latin1 COLLATE latin1_bin
    DEFAULT 'x', `j` json DEFAULT NULL, `d` decimal(10,2), PRIMARY KEY (`id`), KEY `k` (`ä`)) CHARSET=utf8mb4""",
    """create table if not exists s.t (a enum('x','y''z') not null, b bit(7), c datetime(6) default now(6),
    d set('1','2'), e year, f int unsigned generated always as (a + 1) virtual, g vector(3), unique (a, b(1)))""",
)


def words(full: bool) -> Iterator[str]:
    """Short texts of quotes, comments and brackets, as the readers of words, tokens, rows and JSON take them apart."""
    draw = random.Random("words")
    for _ in range(100_000 if full else 5000):
        text = "".join(draw.choice("''\"\"``\\\\---#*/! \n\tax0x1e+.,:{}[]$\xe9") for _ in range(draw.randrange(10)))
        data = text.encode()
        readers = (said(split_words, text), said(split_words, text, 1 << 20), said(tokenize, text))
        yield " ".join((*readers, said(pretty, data), said(parse_rows, b"### INSERT INTO `a`.`b`\n###   @1=" + data)))


# --- bytes: everything that the fuzz targets call --------------------------------------------------------------------


def target(name: str) -> Callable[[bool], Iterator[str]]:
    """Committed inputs of a fuzz target and mutated ones: what every call of the reference gave, in order."""

    def answers(full: bool) -> Iterator[str]:
        module = load(name)
        inputs = [*(data for _, data in module.seeds()), *read_archive(COMMITTED / f"{name}.zip")]
        inputs += [path.read_bytes() for path in sorted((REGRESSIONS / name).glob("*")) if path.is_file()]
        mutate = getattr(module, "mutate", None)
        for number, data in enumerate(inputs if full else inputs[:: 1 + len(inputs) // 40]):
            forms = [data, *changed(data[: module.MAX_LEN], 30 if full else 2, name)]
            if mutate is not None:
                forms += [mutate(data, module.MAX_LEN, number + seed) for seed in range(10 if full else 1)]
            for form in forms:
                yield traced(module.check, form[: module.MAX_LEN])

    return answers


def traced(check: Callable[[bytes], None], data: bytes) -> str:
    """What the calls inside a check gave."""
    given: list[str] = []
    with _listening(given):
        given.append(said(check, data, declared=violation.Violation))
    return " ".join(given)


@contextmanager
def _listening(given: list[str]) -> Iterator[None]:
    """Every module of the fuzzer calls the reference through ``attempt``."""
    before = violation.attempt

    def attempt(function: Callable[..., Any], *arguments: Any, **options: Any) -> tuple[Any, CodecError | None]:
        value, error = before(function, *arguments, **options)
        given.append(form_of(value) if error is None else f"{error.code} {str(error)!a}")
        return value, error

    modules = [
        module
        for name, module in sys.modules.items()
        if name.startswith("fuzz.") and getattr(module, "attempt", None) is before
    ]
    for module in modules:
        vars(module)["attempt"] = attempt
    try:
        yield
    finally:
        for module in modules:
            vars(module)["attempt"] = before


# --- Cases, judge, keys ----------------------------------------------------------------------------------------------


def _advance(table: Table, session: Session, rows: Sequence[Row], step: Step) -> Sequence[Row]:
    model = Model(table, SELECTOR, session, list(rows))
    model.advance(model.predict(step))
    return model.rows


def _predicted(case: UpdateCase) -> list[StepPrediction]:
    names = [column.name for column in case.table.columns]
    model = Model(case.table, SELECTOR, case.session, [dict(zip(names, row, strict=True)) for row in case.rows])
    made = []
    for step in case.steps:
        made.append(model.predict(step))
        model.advance(made[-1])
    return made


def cases(full: bool) -> Iterator[str]:
    """Generated Cases with what is predicted of them; and their files with mutations."""
    for number in range(300 if full else 12):
        case = update_case(Stream("systems", number), case_id="x", steps=4, advance=_advance)
        text = json.dumps(dump_case(case))
        yield ascii(text)
        yield said(_predicted, case)
        for form in changed(text.encode(), 5, "case"):
            try:
                data = json.loads(form)
            except ValueError:
                continue
            if isinstance(data, dict):
                yield said(load_any_case, data)


def judged(full: bool) -> Iterator[str]:
    """What other decoders may have printed: JSON, base64, numbers, moments, rows of pseudo SQL."""
    draw = random.Random("judged")
    for text in mutated(20_000 if full else 1000):
        yield said(exact_json.parse, text, declared=ValueError)
    for _ in range(20_000 if full else 1000):
        yield said(_bytes, "".join(draw.choice("AAAQZz+/==\n -_é") for _ in range(draw.randrange(14))))
        text = "".join(draw.choice("0123456789.-+eE:: TZ\u0663x") for _ in range(draw.randrange(20)))
        yield said(numbers.number_in, text)
        yield " ".join(said(moments.moment_of, kind, text) for kind in ("DATE", "TIME", "DATETIME", "TIMESTAMP"))
    rows = (DATA / "mysqlbinlog" / "07-all-types-metadata-full.v.txt").read_bytes()
    for form in changed(rows, 100 if full else 5, "rows"):
        yield said(parse_rows, form, declared=Exception)


def _bytes(text: str) -> bytes | None:
    return bytes_of_form({"base64": text})


def keyrings(full: bool) -> Iterator[str]:
    """Mutated files of the keyring."""
    data = (DATA / "encrypted-binlogs" / "keyring.json").read_bytes()
    for form in (*changed(data, 5000 if full else 300, "keyring"), *(b"[" * n + b"]" * n for n in (99, 500, 5000))):
        yield said(Keyring.parse, form)


# --- files, through the commands ------------------------------------------------------------------------------------


def logs(full: bool) -> Iterator[str]:
    """What the commands print of recorded logs, whole and damaged (:mod:`tests.builds.answers`)."""
    every = sorted(path for folder in FOLDERS for path in (DATA.parents[1] / folder).glob("*.binlog"))
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "log"
        for number, path in enumerate(every):
            data = path.read_bytes()
            for form in (data, *damaged(data, 10 if full else 1)):
                copy.write_bytes(form)
                for command in COMMANDS if full else (COMMANDS[number % len(COMMANDS)],):
                    yield said(answer, command, str(copy))


def data_files(full: bool) -> Iterator[str]:
    """What ``sdi`` prints of recorded data files, whole and damaged."""
    every = sorted((DATA / "innodb").glob("*.ibd.gz"))
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "t.ibd"
        for path in every if full else every[:2]:
            data = gzip.decompress(path.read_bytes())
            for form in (data, *damaged(data, 10 if full else 2)):
                copy.write_bytes(form)
                yield said(answer, ("sdi", "--no-check"), str(copy))
                yield said(answer, ("sdi", "--no-check", "--create"), str(copy))


# --- depth -----------------------------------------------------------------------------------------------------------


def deep(full: bool) -> Iterator[str]:
    """Documents, texts, bytes, paths and SQL inside each other, from a flat stack and from one with many frames."""
    levels = (1, 50, 99, 100, 101, 102, 200, 201, 1000, *((400, 5000, 50_000) if full else ()))
    for frames in (0, 300):
        for count in levels:
            for text in ("[" * count + "]" * count, '{"a":' * count + "1" + "}" * count, "[" * count):
                yield _below(frames, _of_text, text)
            yield _below(frames, _of_value, _nested_value(min(count, 200)))
            yield _below(frames, _of_bytes, _nested_bytes(min(count, 5000)))
            yield _below(frames, said, lambda text: str(parse_path(text)), "$" + "[0]" * count)
            for opening, closing in _INSIDE:
                yield _below(frames, said, _made, f"JSON_SET(j, '$.a', {opening * count}1{closing * count})")
            yield _below(frames, said, exact_json.parse, "[" * count + "]" * count)


_INSIDE: Final = (
    ("(", ")"), ("JSON_ARRAY(", ")"), ("- ", ""), ("1 + (", ")"), ("1 + ", ""), ("CAST(", " AS JSON)"),
    ("JSON_SET(j, '$.a', ", ")"), ("COALESCE(", ")"), ("CONCAT(", ")"), ("JSON_UNQUOTE(", ")"),
    ("JSON_EXTRACT(", ", '$.a')"), ("JSON_MERGE_PATCH(", ", '{}')"),
)  # fmt: skip


def _below(frames: int, function: Callable[..., str], *arguments: object) -> str:
    return _below(frames - 1, function, *arguments) if frames else function(*arguments)


def _of_text(text: str) -> str:
    return said(lambda each: encode(parse_text(each)).hex(), text)


def _of_value(value: Any) -> str:
    given = [said(function, value) for function in (encode, format_text, format_pretty)]
    return " ".join((*given, said(compare, value, value)))


def _of_bytes(data: bytes) -> str:
    readers: tuple[Callable[[bytes], object], ...] = (decode, decode_strict, document_text, storage_free)
    return " ".join(said(reader, data) for reader in readers)


def _nested_value(levels: int) -> Any:
    value: Any = UInt(1)
    for level in range(levels):
        value = [value] if level % 2 else {"a": value}
    return value


def _nested_bytes(levels: int) -> bytes:
    """Small arrays of one element inside each other."""
    data = b"\x00\x00\x04\x00"
    for _ in range(levels - 1):
        data = b"\x01\x00" + (len(data) + 7).to_bytes(2, "little") + b"\x02\x07\x00" + data
    return b"\x02" + data


KINDS: Final[dict[str, Callable[[bool], Iterator[str]]]] = {
    "JSON texts": json_texts,
    "JSON paths": paths,
    "identifiers": identifiers,
    "code points": code_points,
    "SQL expressions": expressions,
    "table definitions": definitions,
    "words and tokens": words,
    "Cases": cases,
    "answers of decoders": judged,
    "keyrings": keyrings,
    "depth": deep,
    "logs": logs,
    "data files": data_files,
    **{f"fuzz target {name}": target(name) for name in target_names()},
}
