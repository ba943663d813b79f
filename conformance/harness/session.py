"""The session of a run: it owns the servers and the subject, and knows their versions.

The first request starts a server, a pair, an injector, an applier or a receiver; later checks use the same one.
"""

from __future__ import annotations

from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Final

import pytest

from conformance.harness.decoders import OpenedSubject, subject_record
from conformance.harness.findings import Findings
from conformance.harness.nearest import telling_nearest
from conformance.harness.needs.listed import lacking, needs_of
from conformance.harness.needs.questions import Questions
from conformance.harness.topology import Pairs
from conformance.harness.version_probes import gather
from conformance.judge.probes import contradiction_words, dialect_as_shown, probe_all, row_of
from conformance.requirements.deviations import Deviation, load_deviations
from conformance.requirements.versions import FIRST, applies, dialect_name, dialect_of, parse_version, text_of
from conformance.servers.auto import Wishes, find_maker, fit, prepare, resolve
from conformance.servers.errors import ServerError
from conformance.servers.recording.tape import NoAnswer
from conformance.servers.roles.applier import Applier, launch_applier
from conformance.servers.roles.injector import Injector, launch_target
from conformance.servers.roles.old_server import old_installation
from conformance.servers.roles.receiver import ReceiverTarget, launch_receiver
from conformance.servers.run import deaths
from conformance.servers.run.owned import OwnServer
from conformance.servers.run.process import ProcessMaker
from conformance.servers.settings.listed import beside
from conformance.servers.specs import SpecKind, parse_spec
from conformance.stream import Asked, Progress, Subject
from conformance.subjects.specs import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conformance.harness.settings import Settings
    from conformance.harness.topology import Chain
    from conformance.reference.dialect import Dialect
    from conformance.servers.base import Server
    from conformance.servers.closing import Closing
    from conformance.servers.recording.recordings import Recording
    from conformance.servers.roles.pair import Pair
    from conformance.servers.run.owned import Maker
    from conformance.servers.specs import ServerSpec
    from conformance.stream import AnyRecord

# A run makes and drops a table for every block: without files and statistics of their own that is ten times faster.
_MANY_TABLES: Final = {"innodb-file-per-table": "OFF", "innodb-stats-persistent": "OFF"}


def several_servers(settings: Settings, sink: Callable[[AnyRecord], None], narrate: Callable[[str], None]) -> bool:
    """Whether the lab may start a server under test for each of several workers; gets what they need then.

    Somebody who wants to keep the server, or to watch it by a wrapper, wants one.
    """
    if settings.subject or settings.keep or settings.wrapper:
        return False
    options = dict(settings.server_options)
    if parse_spec(settings.server).kind is SpecKind.RECORDED:
        return True
    return prepare(parse_spec(settings.server), options, narrate=narrate, progress=partial(_fetching, sink))


def _old_maker() -> Maker:
    return ProcessMaker(old_installation())


def _fetching(sink: Callable[[AnyRecord], None], state: object) -> None:
    total = getattr(state, "total", 0)
    sink(
        Progress(
            label=f"{getattr(state, 'what', '')}: {getattr(state, 'step', '')}",
            done=getattr(state, "done", 0) if total else round(getattr(state, "percent", 0)),
            total=total or 100,
            unit="bytes" if total else "%",
        )
    )


@dataclass(slots=True)
class Lab:
    """One run. ``close`` ends the server."""

    settings: Settings
    sink: Callable[[AnyRecord], None]
    narrate: Callable[[str], None] = lambda _: None
    deviations: tuple[Deviation, ...] = ()
    findings: Findings = field(init=False)
    recording: Recording | None = None  # made or judged by this run
    rate: float = 0.0  # updates of the update campaign in a second
    _server: Server | None = None
    _pairs: Pairs | None = None
    _resolved: bool = False
    _asked: bool = False
    _dialect: Dialect | None = None
    _questions: Questions | None = None
    _injector: Injector | None = None
    _applier: Applier | None = None
    _receiver: ReceiverTarget | None = None
    _opened: OpenedSubject | None = None

    def __post_init__(self) -> None:
        cases = self.settings.cases
        self.findings = Findings(cases=cases, replay=self.settings.replay)
        deaths.keep_in(None if cases is None else cases / "deaths")
        if self.settings.deviations:
            self.deviations = load_deviations(self.settings.deviations_file)
            self.sink = telling_nearest(self.sink, self.deviations)

    # --- the subject -------------------------------------------------------------------------------------------------

    @property
    def server(self) -> Server | None:
        """The server under test, started when first asked for; ``None`` offline, and in a run about a subject."""
        if not self._resolved and not self.settings.subject:
            settings = self.settings
            wishes = Wishes(
                options=dict(settings.server_options),
                defaults=_MANY_TABLES,
                wrapper=settings.wrapper,
                keep=settings.keep,
                in_memory=settings.small,
                allow=settings.allow,
            )

            def start() -> Server | None:
                fetching = partial(_fetching, self.sink)
                return fit(resolve(settings.server, wishes, narrate=self.narrate, progress=fetching))

            self._server = start() if self.recording is None else self.recording.server(start)
            self._resolved = True
            self.sink(self._subject_record())
        return self._server

    def _subject_record(self) -> Subject:
        server = self._server
        if server is None:
            return Subject(
                id=self.subject,
                role="source",
                version=self.settings.recorded,
                dialect=dialect_name(self.version),
                capabilities=("recorded",),
                note="no server: the same checks on what a server of this version did when it was recorded",
            )
        return Subject(
            id=self.subject,
            role="source",
            version=server.version,
            dialect=dialect_name(server.number),
            capabilities=("source",),
            note=server.provenance,
        )

    @property
    def decoder(self) -> OpenedSubject:
        """The subject of the run, opened when first asked for. Raises ``SubjectUnavailable``."""
        if self._opened is None:
            self._opened = OpenedSubject(self.settings.subject, self.narrate)
            self.sink(subject_record(self.subject, self.settings.subject, self._opened.hello))
        return self._opened

    @property
    def subject(self) -> str:
        """The name of the column."""
        if self.settings.subject:
            return self.settings.column or shown(self.settings.subject)
        return self.settings.column or (f"captures {self.settings.recorded}" if self.server is None else self.server.id)

    @property
    def version(self) -> tuple[int, int, int]:
        return parse_version(self.settings.recorded) if self.server is None else self.server.number

    @property
    def dialect(self) -> Dialect:
        """The dialect of the server's version by the table, corrected where the server itself showed another value."""
        return self._dialect or dialect_of(self.version)

    @property
    def known(self) -> bool:
        """Whether the server or the subject answered before, so that the stream knows it."""
        return self._resolved or self._opened is not None

    @property
    def lives(self) -> bool:
        """Whether the server under test is there. One of a recording is, where the recording does not know better."""
        with suppress(NoAnswer):
            return self._server is not None and self._server.alive()
        return True

    def revive(self) -> None:
        """Start the lab's own server again if it is gone, and forget the servers beside it: checks start new ones."""
        self._close_others()
        server = self._server
        if isinstance(server, OwnServer) and not server.alive():
            server.stop(clean=False)
            server.start()

    def excluded(self) -> str | None:
        """Why no check of the kit is applicable to this server, if so. The first call asks the server."""
        if self.settings.subject:
            return None
        if self.server is not None and not self._asked:
            self._asked = True
            self._ask(self.server)
        if self.dialect.log.has_event39:
            return None
        return f"MySQL {text_of(self.version)} has no partial JSON updates: they came with {text_of(FIRST)}"

    @property
    def questions(self) -> Questions:
        """The answers of the server under test about what it has; it is asked each question once."""
        if self._questions is None:
            assert self.server is not None
            self._questions = Questions(self.server)
        return self._questions

    def lacking(self, check: str) -> str:
        """Why a check is not applicable to the server under test, by the list of needs; empty: it is."""
        needs = () if self.settings.subject else needs_of(check)
        return lacking(self.questions, needs) if needs and self.server is not None else ""

    def _ask(self, server: Server) -> None:
        """Compare what the server shows with the table of versions."""
        try:
            answers = gather(server) if self.recording is None else self.recording.answers(server, gather)
            probed = probe_all(server.number, answers)
        except ServerError as error:
            self.sink(Asked(subject=self.subject, note=f"the server could not be asked: {error}"))
            return
        self._dialect = dialect_as_shown(dialect_of(server.number), probed)
        self.sink(Asked(subject=self.subject, rows=tuple(map(row_of, probed))))
        for item in probed:
            if item.contradicts:
                self.narrate(f"a finding about the table of versions: {contradiction_words(server.number, item)}")

    @contextmanager
    def pair(self, *, gtid: bool) -> Iterator[Pair]:
        """The source of the run with a replica that follows it from now on.

        Without GTIDs, or with them, where the run's source has it the other way, the pair has a source of its own. The
        first call starts the pair, and other checks use it too. Skips where there can be none.
        """
        with self._available_pairs(gtid).use(gtid=gtid) as pair:
            self._replica_record()
            yield pair

    @contextmanager
    def chain(self, *, gtid: bool) -> Iterator[Chain]:
        """The pair, and a third server that follows its replica."""
        with self._available_pairs(gtid).use_chain(gtid=gtid) as chain:
            self._replica_record()
            yield chain

    def pairs(self) -> Pairs:
        """The maker of this run's pairs; asking for it starts nothing."""
        if self._pairs is None:
            find = None if self.recording is None else self._recorded_maker
            self._pairs = Pairs(self.server, self.narrate, replica=self.settings.replica, find=find)
        return self._pairs

    def _recorded_maker(self, spec: ServerSpec) -> Maker:
        assert self.recording is not None
        return self.recording.maker("replica", partial(find_maker, spec, narrate=self.narrate))

    def old_maker(self) -> Maker:
        """The maker of servers from before the feature. Raises :class:`ServerUnavailable`."""
        return _old_maker() if self.recording is None else self.recording.maker("old server", _old_maker)

    def _replica_record(self) -> None:
        """Write the subject record of a replica."""
        replica = self._pairs.replica if self._pairs is not None else None
        if replica is None or not self.settings.replica or not self.findings.first("subject: replica"):
            return
        self.sink(
            Subject(
                id=f"{self.settings.column} replica" if self.settings.column else replica.id,
                role="replica",
                version=replica.version,
                dialect=dialect_name(replica.number),
                capabilities=("replica",),
                note=replica.provenance,
            )
        )

    @property
    def replica_version(self) -> tuple[int, int, int]:
        """The version of the run's replicas, which shapes what an applier does."""
        replica = self._pairs.replica if self._pairs is not None else None
        return self.version if replica is None else replica.number

    def _available_pairs(self, gtid: bool) -> Pairs:
        pairs = self.pairs()
        unavailable = pairs.available(gtid=gtid)
        if unavailable is not None:
            pytest.skip(unavailable.reason)
        return pairs

    def injector(self) -> Injector | None:
        """The target of injected events: a server of the same installation, started when first asked for.

        ``None`` where the server under test is not one that the lab starts.
        """
        server = self.server
        if self._injector is None and isinstance(server, OwnServer):
            self.narrate("starting a server for injected events")
            target = launch_target(
                server.maker, options=beside(server.options), keep=self.settings.keep, narrate=self.narrate
            )
            self._injector = Injector(target)
        return self._injector

    def applier(self) -> Applier | None:
        """The target whose applier takes relay logs made by hand, on the same server as :meth:`injector` has."""
        server = self.server
        if self._applier is None and isinstance(server, OwnServer):
            self.narrate("starting a server whose applier is fed by hand")
            target = launch_applier(
                server.maker, options=beside(server.options), keep=self.settings.keep, narrate=self.narrate
            )
            self._applier = Applier(target)
        return self._applier

    def receiver(self) -> ReceiverTarget | None:
        """The target whose receiver takes a source made by hand.

        ``None`` where the server under test is none of the lab's own. Raises :class:`ServerUnavailable` where it is in
        a container that cannot reach this machine.
        """
        server = self.server
        if self._receiver is None and isinstance(server, OwnServer):
            self.narrate("starting a server for boundaries of transactions")
            target = launch_receiver(
                server.maker, options=beside(server.options), keep=self.settings.keep, narrate=self.narrate
            )
            self._receiver = ReceiverTarget(target)
        return self._receiver

    @property
    def witnessed(self) -> tuple[Deviation, ...]:
        """The deviations whose witnesses run: with ``--no-deviations`` as well, where they excuse nothing."""
        return self.deviations or load_deviations(self.settings.deviations_file)

    def asked_for(self, deviation: Deviation) -> bool:
        """Whether the run is about a requirement of a listed deviation, so that its witness belongs to the run."""
        return not self.settings.requirements or not self.settings.requirements.isdisjoint(deviation.requirements)

    def listed(self, *, switch: str = "", name: str = "") -> Deviation | None:
        """The listed deviation of this version with this switch or id."""
        for entry in self.deviations:
            if (entry.switch == switch if switch else entry.id == name) and applies(entry.versions, self.version):
                return entry
        return None

    def renew(self) -> None:
        """Close everything; what is asked for next starts anew, as in a run that begins there."""
        try:
            self.close()
        finally:
            self._server = self._pairs = self._dialect = self._questions = None
            self._injector = self._applier = self._receiver = None
            self._resolved = self._asked = False

    def close(self) -> None:
        """Stop what was started; a second call does nothing."""
        if self._opened is not None:
            self._opened.close()
            self._opened = None
        self._close_others()
        if self._server is not None:
            self._server.close()
            self._server = None

    def _close_others(self) -> None:
        """End the servers beside the one under test."""
        others = (self._injector, self._applier, self._receiver, self._pairs)
        self._injector = self._applier = self._receiver = self._pairs = None
        for other in others:
            if other is not None:
                self._end(other)

    def _end(self, what: Closing | Pairs) -> None:
        """End one of the lab's own. A session that cannot say farewell any more keeps nothing else from its end, and
        changes no verdict."""
        try:
            what.close()
        except ServerError as error:
            self.narrate(f"an end out of order: {str(error).splitlines()[0]}")
