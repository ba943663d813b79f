"""The pairs of a run: a replica beside the source of the run, and a pair without GTIDs, each started when first used;
and a third server behind a replica for as long as a check uses it.

The source of the run works for other checks too, so a replica follows it only while a check uses the pair, and takes
up its log where it stands then.
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.servers.pair import Pair
from conformance.servers.process import ProcessServer, launch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.servers.base import Server
    from conformance.servers.cache import Narrate

_NEW_NAMES: Final = (8, 0, 26)
_LOGS_WHAT_IT_APPLIES: Final = ("log-replica-updates", "log-slave-updates")  # the default since 8.0.3
_NO_GTIDS: Final = {"gtid-mode": "OFF", "enforce-gtid-consistency": "OFF"}


@dataclass(frozen=True, slots=True)
class Unavailable:
    """Why there is no pair here."""

    reason: str


class Chain(NamedTuple):
    """Three servers: ``lower`` follows the replica of ``upper``."""

    upper: Pair
    lower: Pair


class Pairs:
    """Makes the pairs of one run. ``close`` ends what was started; the source of the run belongs to the lab."""

    def __init__(
        self, server: Server | None, narrate: Narrate, *, replica: str = "", allow: frozenset[str] = frozenset()
    ) -> None:
        self._server = server
        self._replica = replica
        self._allow = allow
        self._narrate = narrate
        self._stack = ExitStack()
        self._pairs: dict[bool, Pair] = {}
        self._ids = 100

    def available(self) -> Unavailable | None:
        """Why no pair can be had, if so."""
        if self._server is None:
            return Unavailable("needs a source and a replica: there is no server in this run")
        if not isinstance(self._server, ProcessServer):
            return Unavailable("a replica is started only beside a server that the lab itself started as a process")
        return None

    @contextmanager
    def use(self, *, gtid: bool) -> Iterator[Pair]:
        """A pair whose replica follows its source from now on, until the end of the context."""
        pair = self._pairs.get(gtid)
        if pair is None:
            pair = self._pairs[gtid] = self._start(gtid)
        with _linked(pair, gtid=gtid):
            yield pair

    @contextmanager
    def use_chain(self, *, gtid: bool) -> Iterator[Chain]:
        """A pair, and behind its replica one more, which ends with the context: few checks need a third server."""
        with self.use(gtid=gtid) as upper, ExitStack() as stack:
            middle = upper.replica
            assert isinstance(middle, ProcessServer)
            self._narrate(f"starting a replica of {middle.id}")
            last = stack.enter_context(self._launched(middle, middle.options, performance_schema=True))
            lower = Pair(middle, last)
            stack.callback(lower.close)
            with _linked(lower, gtid=gtid):
                yield Chain(upper, lower)

    def _start(self, gtid: bool) -> Pair:
        assert isinstance(self._server, ProcessServer)
        source = self._server
        options = {_LOGS_WHAT_IT_APPLIES[source.number < _NEW_NAMES]: "ON", **source.options}
        with source.connect() as connection:
            has_gtids = connection.variable("global.gtid_mode") == "ON"
        if gtid is not has_gtids:
            options |= {"gtid-mode": "ON", "enforce-gtid-consistency": "ON"} if gtid else _NO_GTIDS
            self._narrate(f"starting a source {'with' if gtid else 'without'} GTIDs")
            source = self._launch(source, options, performance_schema=False)
        self._narrate(f"starting a replica of {source.id}")
        replica = self._launch(source, options, performance_schema=True)
        pair = Pair(source, replica)
        self._stack.callback(pair.close)
        return pair

    def _launch(
        self, like: ProcessServer, options: dict[str, str | None], *, performance_schema: bool
    ) -> ProcessServer:
        return self._stack.enter_context(self._launched(like, options, performance_schema=performance_schema))

    def _launched(
        self, like: ProcessServer, options: dict[str, str | None], *, performance_schema: bool
    ) -> ProcessServer:
        self._ids += 1
        return launch(
            like.installation,
            server_id=self._ids,
            options=options,
            wrapper=like.wrapper,
            performance_schema=performance_schema,
            keep=like.keep,
            narrate=self._narrate,
        )

    def close(self) -> None:
        """End the servers that were started here; a second call does nothing."""
        self._pairs.clear()
        self._stack.close()


@contextmanager
def _linked(pair: Pair, *, gtid: bool) -> Iterator[None]:
    """The replica follows from where the source is now."""
    with pair.source.connect() as connection:
        capture = pair.source.capture()
        try:
            executed = connection.variable("global.gtid_executed") if gtid else None
            position = capture.mark(connection)
        finally:
            capture.close()
    pair.follow(position, None if executed is None else executed.replace("\n", ""))
    try:
        yield
    finally:
        if pair.replica.alive():
            pair.unlink()
