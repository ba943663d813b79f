"""The code that executors run: blocks of updates on a server that the worker keeps, one row for each block.

A Python worker of Spark lives longer than a task, and its server as long as it does: the server's supervisor ends the
server when the worker is gone, however it ended. A server that fails is a row, never a task to try again: what a server
does once, nobody repeats away. A worker that is lost costs its blocks only, because Spark runs its tasks again.
"""

from __future__ import annotations

import json
import os
import pickle
import socket
import traceback
import zlib
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from conformance.harness.updates.blocks import run_block
from conformance.servers.auto import Wishes, resolve
from conformance.servers.errors import ConnectionLost, ServerError
from generators.scalars import portable_doubles

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from conformance.harness.updates.blocks import BlockResult, Limits
    from conformance.servers.base import Server
    from conformance.servers.wire.capture import Capture
    from conformance.servers.wire.connection import Connection

COLUMNS: Final = {
    "block": "BIGINT", "updates": "BIGINT", "statements": "BIGINT", "events": "BIGINT", "bytes": "BIGINT",
    "texts": "BIGINT", "sizes": "BIGINT", "mismatches": "BIGINT", "seconds": "DOUBLE", "digest": "STRING",
    "census": "STRING", "case_id": "STRING", "server": "STRING", "worker": "STRING", "attempt": "BIGINT",
    "failure": "STRING", "exit_code": "BIGINT", "result": "BINARY",
}  # fmt: skip
"""A row for each block. ``census`` is a JSON object; ``result`` the judged block for the report; ``failure`` says why
there is none; ``worker`` is host and process; ``attempt`` counts how often the task was begun before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """The facts that every worker needs. ``version``: the server's that the run is about; another is a failure."""

    spec: str
    options: Mapping[str, str | None]
    wrapper: str
    version: str
    seed: int | str
    limits: Limits
    portable: bool


class Session:
    """A worker's server, with the session and the schema in which its blocks run."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self._stack = ExitStack()
        try:
            server = resolve(job.spec, Wishes(options=job.options, wrapper=job.wrapper))
            assert server is not None
            self.server: Server = self._stack.enter_context(server)
            if self.server.version != job.version:
                raise ServerError(f"MySQL {self.server.version} on {_worker()}, where the run is about {job.version}")
            self._stack.enter_context(portable_doubles(job.portable))
            self.connection: Connection = self._stack.enter_context(self.server.connect())
            self.capture: Capture = self.server.capture()
            self.schema: str = self._stack.enter_context(self.server.schema(self.connection))
        except BaseException:
            self._stack.close()
            raise

    def run(self, number: int, updates: int) -> BlockResult:
        """One block."""
        job = self.job
        return run_block(self.connection, self.capture, self.schema, job.seed, number, job.limits, updates)

    def close(self) -> None:
        """End the server."""
        self._stack.close()


_kept: list[Session] = []  # at most one: that of this process


def session_for(job: Job) -> Session:
    """The session of this process, with the server that it has had since its first block."""
    if _kept and _kept[0].job != job:
        end_session()
    if not _kept:
        _kept.append(Session(job))
    return _kept[0]


def end_session() -> None:
    """End the server of this process, if it has one."""
    while _kept:
        _kept.pop().close()


class Blocks:
    """The function for ``mapInArrow``: numbers of tasks in, one row for each of their blocks out."""

    def __init__(self, job: Job, tasks: tuple[tuple[tuple[int, int], ...], ...]) -> None:
        self.job = job
        self.tasks = tasks  # blocks as (number, updates)

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa
        from pyspark import TaskContext

        types = {"BIGINT": pa.int64(), "DOUBLE": pa.float64(), "STRING": pa.string(), "BINARY": pa.binary()}
        schema = pa.schema([(name, types[kind]) for name, kind in COLUMNS.items()])
        context = TaskContext.get()
        attempt = 0 if context is None else context.attemptNumber()
        for batch in batches:
            for task in batch.column(0).to_pylist():
                for number, updates in self.tasks[task]:
                    row = run_one(self.job, number, updates) | {"attempt": attempt}
                    yield pa.RecordBatch.from_pylist([row], schema=schema)


def run_one(job: Job, number: int, updates: int) -> dict[str, Any]:
    """The row of one block."""
    row: dict[str, Any] = {"block": number, "worker": _worker()}
    session: Session | None = None
    try:
        session = session_for(job)
        result = session.run(number, updates)
        if result.failure:  # a block without a verdict is no row: the campaign ends, and says which
            return row | {"failure": result.failure, "exit_code": 3}
        return row | {"server": session.server.version} | row_of(result)
    except ServerError as error:
        fate = error
        if session is not None and isinstance(error, ConnectionLost):
            fate = session.server.fate(error)
        end_session()
        return row | {"failure": str(fate), "exit_code": fate.exit_code}
    except Exception as error:  # noqa: BLE001 - a defect of the kit must travel as well, and say where it shows
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{os.path.basename(place.filename)}:{place.lineno}"  # noqa: PTH119
        text = f"the lab failed in block {number} of seed {job.seed}: {type(error).__name__}: {error} ({where})"
        return row | {"failure": text, "exit_code": 3}


def row_of(result: BlockResult) -> dict[str, Any]:
    """A judged block as columns."""
    judgement = result.judgement
    return {
        "updates": judgement.updates,
        "statements": result.statements,
        "events": judgement.events,
        "bytes": judgement.bytes,
        "texts": judgement.texts,
        "sizes": judgement.sizes,
        "mismatches": len(judgement.mismatches) + len(result.faults.found),
        "seconds": result.seconds,
        "digest": result.digest,
        "census": json.dumps(result.census, sort_keys=True),
        "case_id": result.case_id,
        "result": zlib.compress(pickle.dumps(result), 1),
    }


def result_of(row: Mapping[str, Any]) -> BlockResult:
    """The judged block of a row that a worker of this run has just sent."""
    found: BlockResult = pickle.loads(zlib.decompress(row["result"]))  # noqa: S301 - of our own worker, as in a pool
    return found


def _worker() -> str:
    return f"{socket.gethostname()}:{os.getpid()}"
