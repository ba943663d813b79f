"""Images: which columns a row holds, in narrow and wide tables, with FULL, MINIMAL and NOBLOB."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.checks.decoders.suite.declare import Setting, recorded

if TYPE_CHECKING:
    from conformance.checks.decoders.suite.declare import Recorded


def _wide(columns: int, *, image: str = "FULL", metadata: str = "FULL") -> Recorded:
    names = [f"c{number}" for number in range(1, columns)]
    some = sorted({0, 6, 7, 8, 62, 63, 64, columns - 2} & set(range(columns - 1)))
    nulls = ", ".join("NULL" if number % 3 == 1 else str(number % 100) for number in range(columns - 1))
    changed = ", ".join(f"{names[number]} = {number + 1000}" for number in some)
    suffix = ("" if image == "FULL" else f"-{image.lower()}") + ("" if metadata == "FULL" else "-unnamed")
    return recorded(
        f"images/{columns}-columns{suffix}", f"{columns} columns" + ("" if image == "FULL" else f", {image} image") + ("" if metadata == "FULL" else ", MINIMAL metadata"),
        "Bitmaps have a bit for each column: from 9 and from 65 columns on they take another byte or word.", "DEC14",
        setting=Setting(image=image, metadata=metadata), prepare="CREATE TABLE t (id INT PRIMARY KEY, " + ", ".join(f"{name} INT" for name in names) + ")",
        statements=(f"INSERT INTO t VALUES (1, {nulls})", f"UPDATE t SET {changed}", f"UPDATE t SET {names[0]} = NULL", "DELETE FROM t"),
    )  # fmt: skip


_TABLE: Final = "CREATE TABLE t (id INT PRIMARY KEY, a INT, v VARCHAR(20), x TEXT, k BLOB, u INT)"
_ROW: Final = "INSERT INTO t VALUES (1, 2, 'v', 'text', x'00ff', 3)"


def _image(
    name: str, title: str, why: str, image: str, *statements: str, table: str = _TABLE, row: str = _ROW
) -> Recorded:
    return recorded(
        f"images/{name}", title, why, "DEC14", setting=Setting(image=image), prepare=(table, row), statements=statements
    )


_KEYLESS: Final = _TABLE.replace(" PRIMARY KEY", "")
_UNIQUE: Final = _TABLE.replace(" PRIMARY KEY", "").replace("u INT)", "u INT NOT NULL UNIQUE)")

CASES: Final = (
    *(_wide(columns) for columns in (7, 8, 9, 16, 17, 63, 64, 65, 200)),
    *(_wide(columns, image="MINIMAL") for columns in (8, 9, 64, 65, 200)),
    _wide(65, image="MINIMAL", metadata="MINIMAL"),
    _image("minimal-update", "MINIMAL: the key before, the changed column after", "Columns outside of the image are unchanged, not NULL (maxwell #175).", "MINIMAL", "UPDATE t SET a = 9"),
    _image("minimal-to-null", "MINIMAL: a column becomes NULL", "NULL is in the image, absence is not.", "MINIMAL", "UPDATE t SET v = NULL, a = NULL"),
    _image("minimal-key-change", "MINIMAL: the key itself changes", "Before and after have the same column with two values.", "MINIMAL", "UPDATE t SET id = 5"),
    _image("minimal-delete", "MINIMAL: DELETE has the key only", "The deleted row's other values are not in the log.", "MINIMAL", "DELETE FROM t"),
    _image("minimal-insert", "MINIMAL: INSERT has the columns that the statement names", "Defaults are not in the log: absent is not NULL.", "MINIMAL", "INSERT INTO t (id, v) VALUES (2, 'w')"),
    _image("minimal-no-key", "MINIMAL without a key: all columns before", "Without a key the row is found by all its values.", "MINIMAL", "UPDATE t SET a = 9", table=_KEYLESS),
    _image("minimal-unique-key", "MINIMAL with a unique key in place of a primary one", "The key that identifies the row is the last column.", "MINIMAL", "UPDATE t SET v = 'new'", "DELETE FROM t", table=_UNIQUE),
    _image("minimal-composite-key", "MINIMAL with a key of two columns that are not the first ones", "Key columns stand at their places in the table.", "MINIMAL", "UPDATE t SET v = 'new'", table="CREATE TABLE t (id INT, a INT, v VARCHAR(20), x TEXT, k BLOB, u INT, PRIMARY KEY (u, a))"),
    _image("noblob-update", "NOBLOB: BLOB and TEXT that do not change are left out", "Taken for NULL, every text of the copy is gone (gh-ost #573).", "NOBLOB", "UPDATE t SET a = 9"),
    _image("noblob-changed", "NOBLOB: a BLOB that changes is in the after image", "The before image has no value for it.", "NOBLOB", "UPDATE t SET k = x'01'"),
    _image("noblob-delete", "NOBLOB: DELETE without BLOB and TEXT", "The before image has gaps in the middle.", "NOBLOB", "DELETE FROM t"),
    _image("noblob-insert", "NOBLOB: INSERT without a value for a BLOB", "INSERT names its columns.", "NOBLOB", "INSERT INTO t (id, a, v, u) VALUES (2, 3, 'w', 4)"),
    _image("all-null", "A row of NULLs alone", "A row without a single value byte.", "FULL", "INSERT INTO t VALUES (7, NULL, NULL, NULL, NULL, NULL)", "UPDATE t SET a = 1 WHERE id = 7"),
    _image("one-column", "A table of one column", "The smallest bitmaps.", "FULL", "INSERT INTO t VALUES (1), (NULL)", "UPDATE t SET id = 2 WHERE id = 1", "DELETE FROM t", table="CREATE TABLE t (id INT)", row="INSERT INTO t VALUES (9)"),
    _image("switched", "FULL, MINIMAL and NOBLOB in one log", "The image is a session variable: each event has bitmaps of its own.", "FULL", "UPDATE t SET a = 3", "SET SESSION binlog_row_image = MINIMAL", "UPDATE t SET a = 4", "SET SESSION binlog_row_image = NOBLOB", "UPDATE t SET a = 5"),
    _image("replace", "REPLACE of a row that is there", "The log has an update, or a delete and an insert: both are right only as logged.", "FULL", "REPLACE INTO t VALUES (1, 5, 'w', 'new', NULL, 6)"),
    _image("on-duplicate-key", "INSERT … ON DUPLICATE KEY UPDATE of a row that is there", "The statement says INSERT, the event says update.", "FULL", "INSERT INTO t (id, a) VALUES (1, 5) ON DUPLICATE KEY UPDATE a = 6"),
)  # fmt: skip
