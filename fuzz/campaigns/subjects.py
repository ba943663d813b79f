"""The servers and programs of a campaign: always started by the lab, on data of their own, one for each channel."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from conformance.servers.auto import find_maker
from conformance.servers.errors import ServerUnavailable, SpecError
from conformance.servers.programs import LocalProgram
from conformance.servers.roles.applier import Applier, launch_applier
from conformance.servers.roles.injector import Injector, launch_target
from conformance.servers.roles.relay_log_applier import SteadyLogReader, launch_replica
from conformance.servers.run.process import ProcessMaker
from conformance.servers.specs import SpecKind, parse_spec
from fuzz.campaigns.channels import Files, Logs, Statements, Transactions
from fuzz.campaigns.inputs import APPLIER, CLIENT, REPLICA, STATEMENTS

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import ExitStack

    from conformance.servers.install.cache import Narrate
    from conformance.servers.run.owned import Maker
    from fuzz.campaigns.channels import Channel
    from fuzz.campaigns.trial import Bench


# As in the template. A server fills a larger redo log with zeros when it begins, which takes half a gigabyte of memory.
_SMALL: Final = {"loose-innodb-redo-log-capacity": "8M"}


def find_programs(spec: str, *, narrate: Narrate) -> Maker:
    """Find the programs or the image for the servers of a spec.

    Raises :class:`SpecError` for a server that is there already: such inputs go to no server that somebody may need.
    Processes keep their data in memory: an applier synchronises several files for each log that it is given.
    """
    maker = _find(spec, narrate)
    return replace(maker, in_memory=True) if isinstance(maker, ProcessMaker) else maker


def _find(spec: str, narrate: Narrate) -> Maker:
    parsed = parse_spec(spec)
    if parsed.kind in (SpecKind.MYSQL, SpecKind.NONE):
        raise SpecError(
            spec,
            "a campaign ends servers",
            expected="auto, process[:PATH] or docker[:IMAGE], which the lab starts for it",
        )
    if parsed.kind is not SpecKind.AUTO:
        return find_maker(parsed, narrate=narrate)
    try:
        return find_maker(parse_spec("process"), narrate=narrate)
    except ServerUnavailable as no_process:
        try:
            return find_maker(parse_spec("docker"), narrate=narrate)
        except ServerUnavailable as no_container:
            raise ServerUnavailable(
                f"no server can be had here.\n- process: {no_process}\n- docker: {no_container}",
                "binlog-lab doctor lists what is there and what is missing",
            ) from no_process


def openers(
    maker: Maker, bench: Bench, names: tuple[str, ...], stack: ExitStack, narrate: Narrate, *, jobs: int = 1
) -> dict[str, Callable[[], Channel]]:
    """Functions that open each of these channels; ``stack`` closes opened channels.

    ``jobs``: how many replicas, and how many processes of mysqlbinlog, work side by side.

    Raises :class:`ServerUnavailable` for mysqlbinlog if the program is missing.
    """

    def statements() -> Channel:
        narrate("starting a server for BINLOG statements")
        return Statements(stack.enter_context(Injector(launch_target(maker, options=_SMALL, narrate=narrate))), bench)

    def applier() -> Channel:
        narrate("starting a server whose applier is fed")
        return Transactions(stack.enter_context(Applier(launch_applier(maker, options=_SMALL, narrate=narrate))), bench)

    def replica() -> Channel:
        narrate(f"starting {jobs} replica{'s' if jobs > 1 else ''} that read relay logs")
        launch = partial(launch_replica, maker)
        return Logs([stack.enter_context(SteadyLogReader(launch)) for _ in range(jobs)], bench)

    all_of_them: dict[str, Callable[[], Channel]] = {STATEMENTS: statements, APPLIER: applier, REPLICA: replica}
    if CLIENT in names:
        if not isinstance(maker, ProcessMaker):
            raise ServerUnavailable(
                "mysqlbinlog of a container reads no files of this machine", "--channel statements --channel applier"
            )
        program = LocalProgram(maker.installation.program(CLIENT))
        all_of_them[CLIENT] = lambda: Files(program, bench, jobs)
    return {name: all_of_them[name] for name in names}
