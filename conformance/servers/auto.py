"""From a server spec to a running server."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from conformance.servers.containers.image import find_image
from conformance.servers.containers.server import ContainerMaker
from conformance.servers.errors import ServerUnavailable, SpecError, StartFailed
from conformance.servers.install import bundle
from conformance.servers.install.cache import silent
from conformance.servers.install.installation import Installation, from_path, on_path
from conformance.servers.run.guests import Role, open_guest
from conformance.servers.run.process import ProcessMaker
from conformance.servers.run.template import PAGE_SIZE, template
from conformance.servers.settings.listed import OPTION, listed
from conformance.servers.specs import DEFAULT_IMAGE, ServerSpec, SpecKind, parse_spec

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from conformance.servers.base import Server
    from conformance.servers.install.bundle import Progress
    from conformance.servers.install.cache import Narrate
    from conformance.servers.run.options import Options
    from conformance.servers.run.owned import Maker, OwnServer


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """The caller's wishes for a server, apart from which server it is.

    Some kinds of servers cannot fulfil all wishes (see :func:`resolve`).
    """

    server_id: int = 1
    role: Role = "source"
    options: Mapping[str, str | None] = field(default_factory=dict)
    defaults: Mapping[str, str | None] = field(default_factory=dict)  # for a server the lab starts; options win
    wrapper: str = ""
    performance_schema: bool = False
    keep: bool = False
    in_memory: bool = False  # the data of a server process, and of servers beside it, where memory has room
    allow: frozenset[str] = frozenset()


def parse_server_option(text: str) -> tuple[str, str | None]:
    """``K=V`` of ``--server-option`` (``K`` alone for a switch), with or without leading dashes."""
    name, equals, value = text.strip().lstrip("-").partition("=")
    name = name.strip().replace("_", "-")
    if not name or not all(part.isalnum() for part in name.split("-")):
        raise SpecError(text, "the name is missing or wrong", expected="NAME=VALUE", what="server option")
    if name in ("datadir", "socket", "port", "pid-file", "log-error", "bind-address", "tmpdir", "user", "server-id"):
        raise SpecError(text, f"the lab sets {name} itself", expected="another option", what="server option")
    if (setting := listed(name)) is not None and setting.treatment == OPTION:
        problem = f"the lab sets {name} itself: {setting.why}"
        raise SpecError(text, problem, expected="another option", what="server option")
    return name, value if equals else None


def resolve(
    spec: str | ServerSpec,
    wishes: Wishes | None = None,
    *,
    narrate: Narrate = silent,
    progress: Callable[[Progress], None] = bundle.no_progress,
) -> Server | None:
    """Start or reach the server that ``spec`` names; None for ``none``. The caller closes it."""
    spec = parse_spec(spec) if isinstance(spec, str) else spec
    wishes = wishes or Wishes()
    if spec.kind is SpecKind.NONE:
        return None
    if spec.kind is SpecKind.RECORDED:
        raise SpecError(
            str(spec), "a recording answers only what a run of checks asks", expected="binlog-lab conformance"
        )
    if spec.kind is SpecKind.MYSQL:
        if wishes.options or wishes.wrapper:
            raise SpecError(
                str(spec), "options and wrappers are for servers that the lab starts", expected="a process or container"
            )
        return open_guest(spec, allow=wishes.allow, role=wishes.role, narrate=narrate)
    if spec.kind is SpecKind.DOCKER:
        return _contained(spec, wishes, narrate, progress)
    if spec.kind is SpecKind.PROCESS:
        return _private(spec, wishes, narrate, progress)
    return _automatic(wishes, narrate, progress)


def fit(server: Server | None) -> Server | None:
    """The server, if the lab can judge it as it is set up; closes it and raises :class:`NotJudgeable` if not."""
    if server is not None:
        try:
            server.require_fit()
        except BaseException:
            server.close()
            raise
    return server


def prepare(
    spec: ServerSpec,
    options: Options,
    *,
    narrate: Narrate = silent,
    progress: Callable[[Progress], None] = bundle.no_progress,
) -> bool:
    """Get what servers of this spec need before several start at once: the programs and the template of their data.

    False where they cannot be processes.
    """
    if spec.kind not in (SpecKind.AUTO, SpecKind.PROCESS):
        return False
    try:
        template(find_installation(spec, narrate=narrate, progress=progress), narrate, page_size=options.get(PAGE_SIZE))
    except ServerUnavailable:
        return False
    return True


def _private(spec: ServerSpec, wishes: Wishes, narrate: Narrate, progress: Callable[[Progress], None]) -> OwnServer:
    """A server process; the bundle, if an installed server that nobody asked for by name cannot start here."""
    installation = find_installation(spec, narrate=narrate, progress=progress)
    try:
        return _launched(ProcessMaker(installation, in_memory=wishes.in_memory), wishes, narrate)
    except StartFailed as error:
        # A usual reason on machines with AppArmor: the installed mysqld may only work in its own directories. An
        # option that the caller gave would fail with the bundle as well.
        if spec.path is not None or installation.is_bundle or wishes.options or wishes.wrapper:
            raise
        narrate(f"{error.missing}; using the bundle")
        fetched = bundle.ensure(narrate=narrate, progress=progress).installation()
        return _launched(ProcessMaker(fetched, in_memory=wishes.in_memory), wishes, narrate)


def _automatic(wishes: Wishes, narrate: Narrate, progress: Callable[[Progress], None]) -> Server:
    """The first that works: a server process, else a container."""
    server: Server
    try:
        server = _private(ServerSpec(kind=SpecKind.PROCESS), wishes, narrate, progress)
    except ServerUnavailable as no_process:
        if isinstance(no_process, StartFailed) and (wishes.options or wishes.wrapper):
            raise  # the caller's own options are the likely reason, and would fail with any other server
        try:
            server = _contained(ServerSpec(kind=SpecKind.DOCKER), wishes, narrate, progress)
        except ServerUnavailable as no_container:
            raise ServerUnavailable(
                f"no server can be had here.\n- process: {no_process}\n- docker: {no_container}",
                "binlog-lab doctor lists what is there and what is missing; --server none runs without a server",
            ) from no_process
        narrate(f"auto: chose docker: {server.describe()} (process: {no_process.missing})")
        return server
    narrate(f"auto: chose process: {server.describe()}")
    return server


def _contained(spec: ServerSpec, wishes: Wishes, narrate: Narrate, progress: Callable[[Progress], None]) -> OwnServer:
    """A server in a container of the image."""
    image = find_image(spec.image or DEFAULT_IMAGE, narrate=narrate, progress=progress)
    return _launched(ContainerMaker(image), wishes, narrate)


def _launched(maker: Maker, wishes: Wishes, narrate: Narrate) -> OwnServer:
    """Launch a private server of these programs, or of this image, as the wishes say."""
    return maker.launch(
        server_id=wishes.server_id,
        options={**wishes.defaults, **wishes.options},
        wrapper=wishes.wrapper,
        performance_schema=wishes.performance_schema,
        keep=wishes.keep,
        narrate=narrate,
    )


def find_maker(spec: ServerSpec, *, narrate: Narrate = silent) -> Maker:
    """Find the programs or the image that servers of this spec run on."""
    if spec.kind is SpecKind.DOCKER:
        return ContainerMaker(find_image(spec.image or DEFAULT_IMAGE, narrate=narrate))
    return ProcessMaker(find_installation(spec, narrate=narrate))


def find_installation(
    spec: ServerSpec,
    *,
    narrate: Narrate = silent,
    progress: Callable[[Progress], None] = bundle.no_progress,
) -> Installation:
    """Programs for ``process`` (MYSQLD or PATH, else the bundle) or ``process:PATH``."""
    if spec.path is not None:
        return from_path(spec.path)
    mysqld = on_path()
    if mysqld is not None:
        try:
            return from_path(mysqld, f"{mysqld}")
        except ServerUnavailable as error:
            narrate(f"{error.missing}; using the bundle")  # MariaDB, or a program for another machine
    return bundle.ensure(narrate=narrate, progress=progress).installation()
