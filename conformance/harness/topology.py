"""The pairs of a run: a replica beside the run's source, and a pair without GTIDs, each started when first used.

A chain adds a third server behind a replica for as long as a check uses it. The run's source works for other checks
too. So a replica follows it only while a check uses the pair, and begins at the source's current position. The replica
can be of another installation than the source: ``--replica``. A source at an address keeps its settings, and only the
lab's schemas reach the replica.
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.requirements.versions import dialect_of
from conformance.servers.auto import find_maker
from conformance.servers.errors import SpecError
from conformance.servers.roles.pair import Pair
from conformance.servers.run.guests import open_guest
from conformance.servers.run.owned import OwnServer
from conformance.servers.settings.listed import beside
from conformance.servers.settings.rights import SCHEMA_PREFIX
from conformance.servers.specs import SpecKind, parse_spec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from conformance.servers.base import Server
    from conformance.servers.install.cache import Narrate
    from conformance.servers.run.owned import Maker
    from conformance.servers.specs import ServerSpec

_LOGS_WHAT_IT_APPLIES: Final = "log-replica-updates"  # the default since 8.0.3
_GTIDS: Final = {"gtid-mode": "ON", "enforce-gtid-consistency": "ON"}
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
    """Makes the pairs of one run. ``close`` ends the servers started here; the run's source belongs to the lab."""

    def __init__(
        self,
        server: Server | None,
        narrate: Narrate,
        *,
        replica: str = "",
        find: Callable[[ServerSpec], Maker] | None = None,
    ) -> None:
        self._server = server
        self._replica = replica  # a server spec; empty: as the source
        self._narrate = narrate
        self._find = find or (lambda spec: find_maker(spec, narrate=narrate))
        self._keep = isinstance(server, OwnServer) and server.keep
        self._looked = False
        self._found: Maker | None = None
        self.replica: OwnServer | None = None  # the first that was started
        self._stack = ExitStack()
        self._pairs: dict[bool, Pair] = {}
        self._ids = 100

    def available(self, *, gtid: bool) -> Unavailable | None:
        """The reason why no such pair is possible, if there is one."""
        source = self._server
        if source is None:
            return Unavailable("needs a source and a replica: there is no server in this run")
        replica = parse_spec(self._replica or "process")
        if replica.kind is SpecKind.NONE:
            return Unavailable("needs a replica: there is none in this run (--replica none)")
        if replica.kind is SpecKind.MYSQL:
            if not self._looked:
                open_guest(replica, role="replica", narrate=self._narrate).close()  # refuses one that has a source
                self._looked = True
            return Unavailable(
                "needs a replica that the lab starts, --replica process: every check on a pair sets its global "
                "variables and may stop its applier; a server at an address keeps what its owner set"
            )
        if not isinstance(source, OwnServer) and not self._replica:
            return Unavailable("needs --replica: the lab starts no replica unasked of a server that was there before")
        if replica.kind is SpecKind.DOCKER and not source.found_by_containers():
            raise SpecError(
                self._replica,
                f"a container cannot reach {source.id}, which listens on the loopback of this machine only",
                expected="--server docker:IMAGE as well, or --replica process",
            )
        if not dialect_of(self._maker().number).log.has_event39:
            return Unavailable(f"needs a replica with partial JSON (8.0.3): this one is {self._maker().version}")
        if not isinstance(source, OwnServer) and self._has_gtids() is not gtid:
            mode = "ON" if gtid else "OFF"
            return Unavailable(f"needs a source with gtid_mode {mode}: a server at an address keeps its settings")
        return None

    def _has_gtids(self) -> bool:
        assert self._server is not None
        with self._server.connect() as connection:
            return connection.variable("global.gtid_mode") == "ON"

    def _maker(self) -> Maker:
        """The maker of replicas: as --replica says, otherwise that of the source."""
        if self._found is None:
            if self._replica in ("", "auto") and isinstance(self._server, OwnServer):
                self._found = self._server.maker
            else:
                spec = "process" if self._replica == "auto" else self._replica
                self._found = self._find(parse_spec(spec))
        return self._found

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
        """A pair, and behind its replica a third server, which ends with the context: few checks need one."""
        with self.use(gtid=gtid) as upper, ExitStack() as stack:
            middle = upper.replica
            assert isinstance(middle, OwnServer)
            self._narrate(f"starting a replica of {middle.id}")
            last = stack.enter_context(
                self._launched(middle.maker, middle.options, wrapper=middle.wrapper, performance_schema=True)
            )
            lower = Pair(middle, last)
            stack.callback(lower.close)
            with _linked(lower, gtid=gtid):
                yield Chain(upper, lower)

    def _start(self, gtid: bool) -> Pair:
        source = self._server
        assert source is not None
        options: dict[str, str | None] = {}
        wrapper: tuple[str, ...] = ()
        if isinstance(source, OwnServer):
            options, wrapper = beside(source.options) | _of_gtids(source.options), source.wrapper
            if gtid is not self._has_gtids():
                options |= _GTIDS if gtid else _NO_GTIDS
                self._narrate(f"starting a source {'with' if gtid else 'without'} GTIDs")
                source = self._stack.enter_context(
                    self._launched(source.maker, options, wrapper=wrapper, performance_schema=False)
                )
        else:  # what others write there is none of the replica's business
            options |= {"replicate-wild-do-table": f"{SCHEMA_PREFIX}%.%".replace("_", r"\_"), **_GTIDS}
            if not gtid:
                options |= _NO_GTIDS
        self._narrate(f"starting a replica of {source.id}")
        replica = self._stack.enter_context(
            self._launched(self._maker(), options, wrapper=wrapper, performance_schema=True)
        )
        self.replica = self.replica or replica
        pair = Pair(source, replica)
        self._stack.callback(pair.close)
        return pair

    def _launched(
        self,
        maker: Maker,
        options: Mapping[str, str | None],
        *,
        wrapper: Sequence[str],
        performance_schema: bool,
    ) -> OwnServer:
        self._ids += 1
        logs_too = dialect_of(maker.number).terms.named(_LOGS_WHAT_IT_APPLIES)
        return maker.launch(
            server_id=self._ids,
            options={logs_too: "ON", **options},
            wrapper=wrapper,
            performance_schema=performance_schema,
            keep=self._keep,
            narrate=self._narrate,
        )

    def close(self) -> None:
        """End the servers that were started here; a second call does nothing."""
        self._pairs.clear()
        self._stack.close()


def _of_gtids(options: Mapping[str, str | None]) -> dict[str, str | None]:
    """Return the options about GTIDs, which both servers of a pair must have alike."""
    return {name: value for name, value in options.items() if name in _GTIDS}


@contextmanager
def _linked(pair: Pair, *, gtid: bool) -> Iterator[None]:
    """Make the replica follow from the source's current position."""
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
