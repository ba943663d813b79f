"""Documents: every type of JSONB, at its limits, as the server writes it when a document is inserted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.cases.decoder_case import Equality
from conformance.checks.decoders.suite.declare import Setting, recorded, text

if TYPE_CHECKING:
    from conformance.checks.decoders.suite.declare import Recorded

_TABLE: Final = "CREATE TABLE t (id INT PRIMARY KEY, j JSON)"


def _insert(
    name: str, title: str, why: str, requirements: str, *values: str, prepare: tuple[str, ...] = ()
) -> Recorded:
    rows = ", ".join(f"({number}, {value})" for number, value in enumerate(values, 1))
    return recorded(
        f"jsonb/{name}", title, why, requirements, setting=Setting(),
        equality=Equality.TYPE if "DEC9" in requirements else Equality.VALUE,
        prepare=(_TABLE, *prepare), statements=f"INSERT INTO t VALUES {rows}",
    )  # fmt: skip


def _json(value: str) -> str:
    return f"CAST({text(value)} AS JSON)"


_NUMBERS: Final = (
    _insert("int16", "16-bit integers: 0, 1, -1, and both limits", "The sign is in the type of two bytes; unsigned reading gives 65535 for -1.", "DEC6", "'0'", "'1'", "'-1'", "'32767'", "'-32768'"),
    _insert("int32", "32-bit integers just outside of 16 bits, and both limits", "The next wider type begins at 32768.", "DEC6", "'32768'", "'-32769'", "'2147483647'", "'-2147483648'"),
    _insert("int64", "64-bit integers just outside of 32 bits, and both limits", "Through a double everything above 2^53 is rounded.", "DEC6", "'2147483648'", "'-2147483649'", "'9007199254740993'", "'9223372036854775807'", "'-9223372036854775808'"),
    _insert("uint16", "Small unsigned integers", "An UNSIGNED INTEGER stays one, also where it is small: its type is lost in plain JSON text.", "DEC9 DEC6", "CAST(CAST(0 AS UNSIGNED) AS JSON)", "CAST(CAST(32767 AS UNSIGNED) AS JSON)", "CAST(CAST(65535 AS UNSIGNED) AS JSON)"),
    _insert("uint32", "Unsigned integers of 32 bits", "Read as signed they are negative.", "DEC6 DEC9", "CAST(CAST(65536 AS UNSIGNED) AS JSON)", "CAST(CAST(4294967295 AS UNSIGNED) AS JSON)"),
    _insert("uint64", "Unsigned integers of 64 bits", "Read as signed they are negative; through a double they are rounded.", "DEC6 DEC9", "CAST(CAST(4294967296 AS UNSIGNED) AS JSON)", "'9223372036854775808'", "'18446744073709551615'"),
    _insert("double", "Doubles: fractions, the largest, the smallest", "Shortest text that reads back the same: 17 digits may be needed.", "DEC6", "'0.1'", "'-1.5'", "'1e308'", "'1.7976931348623157e308'", "'2.2250738585072014e-308'", "'5e-324'", "'3.141592653589793'", "'0.30000000000000004'"),
    _insert("double-whole", "Doubles that are whole numbers", "1.0 must not come back as 1: a later comparison by type fails (go-mysql #1142).", "DEC9 DEC6", "'1.0'", "'-1.0'", "'100.0'", "'1e15'", "'1e20'", "'123456789012345680.0'"),
    _insert("double-negative-zero", "Negative zero", "-0.0 equals 0.0 but is another value in bytes and text.", "DEC9 DEC6", "'-0.0'", "'0.0'"),
)  # fmt: skip

_SCALARS: Final = (
    _insert("literals", "The three literals as documents of their own", "A literal at the top has a byte of its own; inside containers it is inlined.", "DEC6 DEC5", "'null'", "'true'", "'false'"),
    _insert("literals-inlined", "The three literals in an array and an object", "Inlined in entries of two or four bytes.", "DEC6", "'[null, true, false]'", """'{"n": null, "t": true, "f": false}'"""),
    _insert("sql-null", "SQL NULL beside documents", "A NULL column has no bytes in the row.", "DEC5", "NULL", "'null'", "'\"null\"'", "'{}'"),
    _insert("text-like-values", "Strings that look like other values", 'Printed without its quotes the string "0" is the number 0.', "DEC6 DEC9", "'\"0\"'", "'0'", "'\"true\"'", "'\"null\"'", "'\"\"'", "'\"{}\"'", "'\"1.0\"'"),
    *(
        _insert(f"string-{size}", f"A string of {size} bytes", "The length is written in groups of seven bits: it takes another byte here." if size in (128, 16384) else "The longest length of its number of bytes.", "DEC6", f"CAST(JSON_QUOTE(REPEAT('s', {size})) AS JSON)", f"JSON_ARRAY(REPEAT('s', {size}), 'behind')")
        for size in (127, 128, 16383, 16384)
    ),
    _insert("string-unicode", "Text of one to four bytes a character", "Lengths count bytes, not characters.", "DEC6", _json('"aé日😀"'), _json('["é", "日", "😀", "Ω≈ç√"]'), _json('{"größe": "ß", "日本": "語", "😀": "🎉"}')),
    _insert("string-control", "Quotes, backslashes and control characters in strings and names", "They must be escaped once, and not twice.", "DEC6", r"""'"q\\" b\\\\ s/ n\\n t\\t r\\r u\\u0001"'""", r"""'{"q\\"k": 1, "b\\\\k": 2, "n\\nk": 3}'"""),
    _insert("string-nul", "Strings with NUL characters", "C strings end there; JSON strings do not.", "DEC6", r"""'"a\\u0000b"'""", r"""'{"k\\u0000": "\\u0000"}'"""),
)  # fmt: skip

_DEEP: Final = "[" * 99 + "1" + "]" * 99
_DEEP_OBJECT: Final = '{"a":' * 98 + "[true]" + "}" * 98
_CONTAINERS: Final = (
    _insert("empty-containers", "Empty object and array, at the top and inside", "Count and size alone: a reader that wants one entry runs past the end.", "DEC7", "'{}'", "'[]'", "'[{}, []]'", """'{"o": {}, "a": []}'"""),
    _insert("array-of-all", "An array with each plain type", "Small values are inlined, the others stand behind at offsets.", "DEC7 DEC6", """'[1, -70000, 3000000000, 1.5, "s", true, null, {"k": "v"}, ["x"]]'"""),
    _insert("object-of-all", "An object with each plain type", "Entries of names and of values are two tables.", "DEC7 DEC6", """'{"i": 1, "l": -70000, "q": 3000000000, "d": 1.5, "s": "t", "b": true, "n": null, "o": {"k": "v"}, "a": ["x"]}'"""),
    _insert("name-order", "Names in the stored order: by length, then by bytes", "The stored order is not the order of the text: names and values belong together by index.", "DEC7", """'{"b": 1, "aa": 2, "a": 3, "": 4, "ccc": 5, "B": 6, "é": 7}'"""),
    _insert("name-empty", "A member with an empty name", "A name of length 0 still has a value.", "DEC7", """'{"": "empty"}'"""),
    _insert("name-dollar", "Names that begin with a dollar sign", "Tagged forms must not take them for tags.", "DEC7", """'{"$type": "DATE", "$object": [], "$": 1}'"""),
    _insert("name-long", "A name of 1,000 bytes", "Lengths of names are two bytes.", "DEC7", "JSON_OBJECT(REPEAT('n', 1000), 1, 'm', 2)"),
    _insert("nesting-100", "Arrays 100 levels deep, the deepest that MySQL takes", "Recursion with a lower limit refuses what the server stores.", "DEC7", _json("[" + _DEEP + "]"), _json(_DEEP)),
    _insert("nesting-objects", "Objects about 100 levels deep", "Each level is an object with one member.", "DEC7", _json(_DEEP_OBJECT)),
    _insert("large-object", "An object above 64 KB: entries with four bytes", "The large form has other widths of count, size, offset and inlined values.", "DEC7", "JSON_OBJECT('i', 70000, 'n', -5, 'b', TRUE, 'pad', REPEAT('p', 66000), 'z', NULL, 'o', JSON_OBJECT('x', 1))"),
    _insert("large-array", "An array above 64 KB, with 32-bit numbers inlined", "In the large form an integer of 32 bits is inlined: read through an offset it points anywhere.", "DEC7", "JSON_ARRAY(70000, -70000, 4294967295, 1, NULL, REPEAT('p', 66000), JSON_ARRAY(1, 2))"),
    _insert("small-in-large", "Small containers inside a large one", "Each container says for itself whether it is large.", "DEC7", "JSON_OBJECT('small', JSON_OBJECT('a', 70000, 'b', JSON_ARRAY(70000)), 'pad', REPEAT('p', 66000))"),
    _insert("large-in-large", "A large array inside a large object", "Offsets of four bytes count from the start of their own container.", "DEC7", "JSON_OBJECT('large', JSON_ARRAY(REPEAT('q', 66000), 70000, 'end'), 'tail', 'x')"),
    _insert("object-65535", "An object of nearly 65,535 bytes: still small", "The border between the forms is at offsets of two bytes.", "DEC7", "JSON_OBJECT('pad', REPEAT('p', 65500), 'n', 1)"),
    _insert("array-300", "An array of 300 integers", "Counts above 255.", "DEC7", _json("[" + ",".join(map(str, range(300))) + "]")),
    _insert("object-300", "An object of 300 members", "Names and values in two long tables.", "DEC7", _json("{" + ",".join(f'"k{number}":{number}' for number in range(300)) + "}")),
    _insert("inlined-limits", "The widest values that are inlined, and the next ones", "32767 is inlined in the small form, 32768 is not.", "DEC7 DEC6", "'[32767, -32768, 32768, -32769, 65535, 65536]'", "JSON_ARRAY(CAST(65535 AS UNSIGNED), CAST(65536 AS UNSIGNED))"),
    _insert("mixed-nesting", "Objects in arrays in objects, with values behind each", "A wrong base of an offset shows only some levels down.", "DEC7", """'{"a": [{"b": [1, {"c": {"d": "deep"}}, "x"]}, "y"], "z": {"e": []}}'"""),
    _insert("repeated-parts", "The same array three times", "Equal parts are stored each for itself; a reader that remembers places must not mix them up.", "DEC7", """'{"a": [1, "s"], "b": [1, "s"], "c": [1, "s"]}'"""),
)  # fmt: skip

_OPAQUE: Final = (
    _insert("decimal", "DECIMAL values: signs, scales, zero", "Its length varies: 8 bytes for all is wrong (vitess #19103).", "DEC8 DEC9", "CAST(CAST(0 AS DECIMAL(5,2)) AS JSON)", "CAST(1.50 AS JSON)", "CAST(-1.50 AS JSON)", "CAST(123456789.987654321 AS JSON)", "CAST(CAST(7 AS DECIMAL(1,0)) AS JSON)"),
    _insert("decimal-below-one", "DECIMAL values below one", "The zero in front of the point must be there: .1 is no JSON number (vitess #20227).", "DEC8 DEC9", "CAST(0.1 AS JSON)", "CAST(-0.001 AS JSON)", "CAST(0.000000000000000000000000000001 AS JSON)"),
    _insert("decimal-65", "DECIMAL values of 65 digits", "Through a double 50 digits are lost (vitess #12731).", "DEC8 DEC9", "CAST(CAST('99999999999999999999999999999999999999999999999999999999999999999' AS DECIMAL(65,0)) AS JSON)", "CAST(CAST('-12345678901234567890123456789012345.123456789012345678901234567891' AS DECIMAL(65,30)) AS JSON)"),
    _insert("decimal-nested", "DECIMAL values in containers", "Opaque values stand at offsets, with type and length in front.", "DEC8 DEC7", "JSON_OBJECT('price', 19.90, 'tax', JSON_ARRAY(0.19, 0.07))"),
    _insert("date", "DATE values", "Packed as in memory, little-endian: the form of columns gives nonsense (rust_mysql_common #145).", "DEC8 DEC9", "CAST(DATE '2024-02-29' AS JSON)", "CAST(DATE '9999-12-31' AS JSON)", "CAST(DATE '1000-01-01' AS JSON)", "JSON_ARRAY(DATE '2000-01-01')"),
    _insert("time", "TIME values, up to 838 hours", "Hours above 23 are values of TIME.", "DEC8 DEC9", "CAST(TIME '00:00:00' AS JSON)", "CAST(TIME '23:59:59' AS JSON)", "CAST(TIME '838:59:59' AS JSON)", "CAST(TIME '00:00:00.000001' AS JSON)"),
    _insert("time-negative", "Negative TIME values", "The whole packed number is negative; sign and fraction go wrong together (mysql-binlog-connector-rust #17).", "DEC8 DEC9", "CAST(TIME '-00:00:01' AS JSON)", "CAST(TIME '-12:34:56.789000' AS JSON)", "CAST(TIME '-838:59:59' AS JSON)", "CAST(TIME '-00:00:00.000001' AS JSON)"),
    _insert("datetime", "DATETIME values with and without fraction", "Microseconds are the low 24 bits.", "DEC8 DEC9", "CAST(TIMESTAMP '2024-02-29 12:34:56' AS JSON)", "CAST(TIMESTAMP '2024-12-31 23:59:59.999999' AS JSON)", "CAST(TIMESTAMP '1000-01-01 00:00:00' AS JSON)"),
    _insert("timestamp", "A TIMESTAMP column's value inside JSON", "Its type code differs from DATETIME, its form does not.", "DEC8 DEC9", "(SELECT CAST(v AS JSON) FROM s)", "(SELECT JSON_OBJECT('at', v) FROM s)", prepare=("CREATE TABLE s (v TIMESTAMP(6) NULL)", "INSERT INTO s VALUES ('2024-02-29 12:34:56.123456')")),
    _insert("year", "A YEAR column's value inside JSON", "YEAR becomes a number or an opaque value: the type byte says which.", "DEC8 DEC9", "(SELECT CAST(v AS JSON) FROM s)", "(SELECT JSON_ARRAY(v) FROM s)", prepare=("CREATE TABLE s (v YEAR)", "INSERT INTO s VALUES (2024)")),
    _insert("bit", "BIT values", "Bytes, high bit first, with the length of the column.", "DEC8 DEC9", "(SELECT CAST(v AS JSON) FROM s)", "(SELECT JSON_ARRAY(w, x) FROM s)", prepare=("CREATE TABLE s (v BIT(9), w BIT(1), x BIT(64))", "INSERT INTO s VALUES (b'101010101', b'1', 0x8000000000000001)")),
    _insert("blob", "BLOB values of each length type", "Any bytes, also such that are no UTF-8.", "DEC8 DEC9", "(SELECT CAST(a AS JSON) FROM s)", "(SELECT JSON_ARRAY(b, c, d) FROM s)", prepare=("CREATE TABLE s (a BLOB, b TINYBLOB, c MEDIUMBLOB, d LONGBLOB)", "INSERT INTO s VALUES (x'00ff80fe', '', x'c328', 'ascii')")),
    _insert("binary", "BINARY and VARBINARY values", "Their type codes are those of CHAR and VARCHAR: only the value is opaque.", "DEC8 DEC9", "(SELECT CAST(a AS JSON) FROM s)", "(SELECT JSON_ARRAY(b) FROM s)", prepare=("CREATE TABLE s (a BINARY(4), b VARBINARY(9))", "INSERT INTO s VALUES (x'00ff', x'ff00')")),
    _insert("blob-200", "An opaque value of 200 bytes", "The length of an opaque value is written as that of a string.", "DEC8", "CAST(CAST(REPEAT(x'ff', 200) AS BINARY) AS JSON)", "JSON_ARRAY(CAST(REPEAT(x'00', 20000) AS BINARY), 1)"),
    _insert("enum-and-set", "ENUM and SET columns inside JSON", "They become plain strings.", "DEC6 DEC9", "(SELECT CAST(e AS JSON) FROM s)", "(SELECT JSON_ARRAY(e, f) FROM s)", prepare=("CREATE TABLE s (e ENUM('x','größe'), f SET('a','b'))", "INSERT INTO s VALUES ('größe', 'a,b')")),
    _insert("geometry", "A geometry, which becomes a GeoJSON object", "Its coordinates are doubles, whole numbers included.", "DEC9 DEC7", "CAST(ST_GeomFromText('POINT(1 2.5)') AS JSON)", "JSON_ARRAY(ST_GeomFromText('LINESTRING(0 0, 1 1)'))"),
    _insert("opaque-and-plain", "Typed and plain leaves side by side", "The same text can be five types: only the type byte tells.", "DEC9 DEC8", "JSON_ARRAY('2024-02-29', DATE '2024-02-29', TIMESTAMP '2024-02-29 00:00:00', 1, 1.0, 1e0, CAST(1 AS UNSIGNED), '1', TRUE)"),
    _insert("zero-dates", "Zero dates inside JSON", "All bits are zero; printed as 1970 or refused they are lost.", "DEC8 DEC9", "(SELECT CAST(a AS JSON) FROM s)", "(SELECT JSON_ARRAY(b) FROM s)", prepare=("CREATE TABLE s (a DATE, b DATETIME)", "INSERT INTO s VALUES ('0000-00-00', '0000-00-00 00:00:00')")),
)  # fmt: skip

_NOT_NULL: Final = recorded(
    "jsonb/null-for-not-null", "NULL given to a column that is NOT NULL, where the server lets it pass", "The value may be a document of no bytes at all (php-mysql-replication #96).", "DEC5 DEC7", setting=Setting(),
    prepare="CREATE TABLE t (id INT PRIMARY KEY, j JSON NOT NULL, n INT)", statements=("INSERT IGNORE INTO t VALUES (1, '[1]', 7), (2, NULL, 8)", "UPDATE IGNORE t SET j = NULL WHERE id = 1"),
)  # fmt: skip

CASES: Final = (_NOT_NULL, *_NUMBERS, *_SCALARS, *_CONTAINERS, *_OPAQUE)
