"""Doubles: servers of 9.7.4 that the lab starts, and that say, refuse and log what an older version does.

The construction: the relay of the faulty servers (``tests.faults.servers``) in the lab's own process, and shell scripts
in front of the programs. It costs no process of its own, and whatever the lab starts beside the server under test
(replicas, appliers, receivers) is a double too. A program of its own that speaks the protocol would cost a start of
Python for each of a run's thirty servers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from conformance.requirements import versions
from conformance.servers.run.process import ProcessMaker
from tests.doubles import programs
from tests.doubles.fault import NONE
from tests.doubles.lacking import lacking
from tests.doubles.relay import DoubleRelay
from tests.faults.servers.relayed import RelayedServer, relayed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path
    from typing import Unpack

    from conformance.reference.dialect import Dialect
    from conformance.requirements.versions import Switch, Version
    from conformance.servers.install.installation import Installation
    from conformance.servers.run.owned import Launch
    from tests.doubles.lacking import Lacking
    from tests.faults.fault import Fault


@dataclass(frozen=True, slots=True)
class Double:
    """An older version, played by the programs of another one. ``installation``: what the lab is shown."""

    lacks: Lacking
    real: Installation
    installation: Installation
    dialect: Dialect


class DoubleServer(RelayedServer):
    """One server of a double."""

    double: Double

    @property
    def maker(self) -> DoubleMaker:  # type: ignore[override]
        """A maker of servers of the same double."""
        return DoubleMaker(self.double.real, self.double, self.launched, in_memory=self.in_memory)

    def client(self, name: str) -> list[str]:
        """A client program that speaks to the relay."""
        return [*self.program(name), "--no-defaults", f"--socket={self.relay.path}", "--user=root"]


@dataclass(frozen=True, slots=True)
class DoubleMaker(ProcessMaker):
    """Makes servers of a double. ``launched`` is told of each, before it starts."""

    double: Double
    launched: Callable[[RelayedServer], None]

    @property
    def version(self) -> str:
        """The version that the double plays."""
        return self.double.lacks.version

    @property
    def number(self) -> Version:
        """The same as numbers."""
        return self.double.lacks.number

    def launch(self, *, wrapper: Sequence[str] | str = (), **wishes: Unpack[Launch]) -> DoubleServer:
        """A server on a copy of the real programs' template: it is the double's from its first start on."""
        server = ProcessMaker.launch(self, wrapper=wrapper, **wishes | {"start": False})
        server.installation = self.double.installation
        server.version, server.number = self.version, self.number
        server.id = f"double-{self.version}-{server.server_id}"
        double = self.double
        relay = partial(DoubleRelay, lacks=double.lacks, dialect=double.dialect, version=double.real.version)
        made = relayed(server, self.launched, DoubleServer, relay)
        assert isinstance(made, DoubleServer)
        made.double = double
        if wishes.get("start", True):
            try:
                made.start()
            except BaseException:
                made.close()
                raise
        return made


def double_of(version: str, real: Installation, folder: Path, fault: Fault = NONE) -> Double:
    """The double of a version over these programs; its own programs are written into ``folder``. ``fault``: what it
    plays wrongly."""
    lacks = lacking(version)
    dialect = versions.make_dialect(table_of(lacks, real.number), lacks.number)
    lacks = fault.change.get("lacks", lambda same: same)(lacks)
    dialect = fault.change.get("dialect", lambda same: same)(dialect)
    return Double(lacks, real, programs.install(folder, real, lacks, dialect), dialect)


def table_of(lacks: Lacking, real: Version) -> dict[str, Switch]:
    """The table of versions with the rows that the double leaves as the real version has them."""
    return {name: _as_of(row, real) if name in lacks.left else row for name, row in versions.SWITCHES.items()}


def _as_of(row: Switch, version: Version) -> Switch:
    cell = row.at(version)
    return replace(row, cells=(replace(cell, since=versions.OLDEST),))
