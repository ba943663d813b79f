"""Stored inputs of fuzz targets: run again, made smaller, merged, and measured by the code that they reach."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from conformance.console import narrate
from conformance.exit_code import ExitCode
from conformance.messages import counted
from conformance.user_errors import CouldNotRun, Usage

if TYPE_CHECKING:
    from pathlib import Path

    from fuzz.runner.findings import Finding
    from fuzz.runner.targets import Target


def replay_inputs(files: tuple[Path, ...], name: str | None, timeout: int) -> int:
    """Run inputs again, each in a process of its own; return the exit code. ``name``: their target."""
    from fuzz.runner.alone.sandbox import GROWTH, PASSED, Sandbox, SandboxEnded
    from fuzz.runner.findings import inputs_in, note_replay, read

    for file in files:
        if not file.exists():
            raise Usage(f"{file}: no such file or folder")
    by_target: dict[tuple[Target, bool], list[Path]] = {}
    kinds = [kind for file in files for kind in _server_findings(file)]
    for path in (found for file in files for found in inputs_in(file)):
        facts = read(path)
        grows = facts is not None and facts.kind == GROWTH
        by_target.setdefault((_target_of(path, name), grows), []).append(path)
    if not by_target and not kinds:
        raise Usage("no input there: expected files, or folders with files that end in .bin, or findings about servers")
    code = _replay_server_findings(kinds)
    for (target, grows), paths in by_target.items():
        try:
            with Sandbox(target, timeout=timeout, growth=grows) as sandbox:
                for path in paths:
                    if words := target.lacking or _another_log(path, target):
                        click.echo(f"ERROR  {target.name}  {path}: {words}")
                        code = ExitCode.COULD_NOT_RUN
                        continue
                    known = read(path)
                    outcome = sandbox.run(_bytes(path)).like("" if known is None else known.signature)
                    note_replay(path, fixed=outcome.kind == PASSED)
                    click.echo(f"{'FIXED' if outcome.kind == PASSED else 'FAILED'}  {target.name}  {path}")
                    if outcome.kind == PASSED:
                        continue
                    code = max(code, ExitCode.NONCONFORMANT)
                    click.echo(f"  {outcome.kind}: {outcome.signature}")
                    if known is not None and known.signature != outcome.signature:
                        click.echo(f"  it was stored as {known.signature}")
                    click.echo(f"  {outcome.message}")
        except SandboxEnded as problem:
            click.echo(f"ERROR  {target.name}: {problem}")
            code = ExitCode.COULD_NOT_RUN
    return int(code)


def _another_log(path: Path, target: Target) -> str:
    """The reason why an input is not the finding any more: this kit makes another log of it."""
    from fuzz.runner.findings import LOG, read

    known, stored = read(path), path.with_suffix(LOG)
    if known is None or not target.peer or not stored.is_file():
        return ""
    if stored.read_bytes() == getattr(target.module(), "log_of", bytes)(_bytes(path)):
        return ""
    return f"binlog-lab {known.kit} made the log beside it, and this one makes another log of the same input"


def _server_findings(path: Path) -> list[Path]:
    """The folders of kinds that ``fuzz server`` stored below a folder."""
    from fuzz.campaigns.known import FILE

    return sorted(found.parent for found in path.rglob(FILE)) if path.is_dir() else []


def _replay_server_findings(kinds: list[Path]) -> ExitCode:
    """Run the smallest Case of each kind again, on a server of the lab; say how to see those that have none."""
    from conformance.runs.stored_cases import Target as Server
    from conformance.runs.stored_cases import replay_cases
    from fuzz.campaigns.known import read_kind

    code, cases = ExitCode.OK, []
    for kind in kinds:
        case = next((kind / name for name in ("smallest.json", "first.json") if (kind / name).is_file()), None)
        if case is not None:
            cases.append(case)
            continue
        known = read_kind(kind)
        again = f"; again: {known.command}" if known is not None and known.command else ""
        click.echo(f"ERROR  {kind}: no Case of it is stored, for it is no single event{again}")
        code = ExitCode.COULD_NOT_RUN
    if cases:
        on = Server(server="auto", given=False, subject="", replica="", allow=(), options=())
        code = max(code, ExitCode(replay_cases(cases, None, on, listed=True, deviations_file=None)))
    return code


def minimize_input(*, file: Path, name: str | None, seconds: float, output: Path | None, timeout: int) -> int:
    """Make an input smaller that still fails in the same way."""
    from fuzz.runner.alone.sandbox import GROWTH, PASSED, Sandbox
    from fuzz.runner.alone.triage import smallest
    from fuzz.runner.findings import read

    target = _target_of(file, name)
    data = _bytes(file)
    known = read(file)
    if target.lacking:
        raise CouldNotRun(target.lacking)
    with Sandbox(target, timeout=timeout, growth=known is not None and known.kind == GROWTH) as sandbox:
        outcome = sandbox.run(data).like("" if known is None else known.signature)
    if outcome.kind == PASSED:
        raise Usage(f"{file}: {target.name} takes it, there is nothing to keep while it is made smaller")
    narrate(f"{target.name}: {outcome.signature}")
    if output is None and known is None:
        raise Usage(f"{file} is no stored finding: say with --output where the smaller input goes")
    small = smallest(target, data, outcome, timeout=timeout, seconds=seconds)
    if output is not None:
        output.write_bytes(small)
    elif known is not None:
        _keep_smaller(target, known, small)
    narrate(f"{len(data):,} bytes before, {len(small):,} after")
    click.echo(str(output or file))
    return int(ExitCode.OK)


def _keep_smaller(target: Target, known: Finding, data: bytes) -> None:
    """Replace a stored finding's input, with all that stands beside it."""
    from fuzz.runner.errors import Unfit
    from fuzz.runner.findings import Store

    try:
        if len(data) < known.size or not known.shrunk:
            Store(known.path.parent).smaller(target, known, data)
    except (Unfit, OSError) as problem:
        raise CouldNotRun(f"{known.path} stays as it was: {problem}") from problem


def merge_corpora(*, names: tuple[str, ...], everything: bool, corpora: Path | None, into: Path | None) -> int:
    """Keep the smallest inputs that reach what all reach."""
    from fuzz.runner.corpora import cached, inputs
    from fuzz.runner.errors import Unfit
    from fuzz.runner.launch import require_atheris
    from fuzz.runner.merge import merge as merge_inputs
    from fuzz.runner.merge import merge_for_commit

    targets = chosen(names, everything=everything)
    try:
        require_atheris()
        for target in targets:
            contents = inputs(target, corpora)
            merged = (
                merge_inputs(target, contents, cached(target, corpora))
                if into is None
                else merge_for_commit(target, contents, into / f"{target.name}.zip")
            )
            left = f", {merged.left_out} left out: too large, too many, or harmful" if merged.left_out else ""
            click.echo(
                f"{merged.target}: {merged.before} inputs, {merged.kept} kept ({merged.size:,} bytes{left}),"
                f" {merged.edges or 0:,} edges"
            )
    except Unfit as problem:
        raise CouldNotRun(str(problem)) from problem
    return int(ExitCode.OK)


def print_coverage(*, names: tuple[str, ...], everything: bool, missing: bool, corpora: Path | None) -> int:
    """Print the code that the corpora reach."""
    from fuzz.runner.errors import Unfit
    from fuzz.runner.reach import reach

    targets = chosen(names, everything=everything)
    try:
        found = reach(targets, corpora)
    except Unfit as problem:
        raise CouldNotRun(str(problem)) from problem
    modules = found.modules
    width = max((len(item.module) for item in modules), default=0)
    for item in modules:
        click.echo(
            f"{item.module:<{width}}  lines {_share(item.lines_reached, item.lines)}"
            f"  branches {_share(item.branches_reached, item.branches)}"
        )
        if missing and item.missing:
            click.echo(f"  not reached: {_ranges(item.missing)}")
    lines = _share(sum(item.lines_reached for item in modules), sum(item.lines for item in modules))
    branches = _share(sum(item.branches_reached for item in modules), sum(item.branches for item in modules))
    click.echo(f"{'all':<{width}}  lines {lines}  branches {branches}")
    narrate(f"{found.inputs:,} inputs of {counted(len(targets), 'target')}")
    return int(ExitCode.OK)


def write_targets(directory: Path, names: tuple[str, ...]) -> int:
    """Write targets in the layout of OSS-Fuzz."""
    from fuzz.runner.errors import Unfit
    from fuzz.runner.export import export as export_targets
    from fuzz.runner.targets import EMPTY

    targets = chosen(names, everything=not names)
    if not names:
        targets = [target for target in targets if target.name != EMPTY]  # nothing in it can be covered
    try:
        for entry in export_targets(targets, directory):
            click.echo(entry)
    except (Unfit, OSError) as problem:
        raise CouldNotRun(str(problem)) from problem
    return int(ExitCode.OK)


def chosen(
    names: tuple[str, ...], *, everything: bool, peers: bool = False, subjects: tuple[str, ...] = ()
) -> list[Target]:
    """Targets by name, or all of a kind, and subjects. Raises :class:`Usage` and :class:`CouldNotRun`."""
    from fuzz.runner.errors import Unfit, UnknownTarget
    from fuzz.runner.targets import find, own_targets, peer_targets

    try:
        targets = find(names)
    except UnknownTarget as problem:
        raise Usage(str(problem)) from problem
    except Unfit as problem:
        raise CouldNotRun(str(problem)) from problem
    targets += map(_subject, subjects)
    targets += [*(own_targets() if everything else ()), *(peer_targets() if peers else ())]
    if not targets:
        raise Usage("no target: name one, or give --all", hint="binlog-lab fuzz list names them")
    return list(dict.fromkeys(targets))


def _subject(spec: str) -> Target:
    """A decoder as a target, after it has introduced itself."""
    from conformance.cases.decoder_case import DECODE
    from conformance.harness.decoders import OpenedSubject
    from conformance.subjects.answers import SubjectUnavailable
    from conformance.subjects.capabilities import COMMITTED, FILE, SERVER
    from conformance.subjects.specs import SubjectSpecError
    from fuzz.runner.targets import subject_target

    try:
        with OpenedSubject(spec, narrate) as opened:
            hello = opened.hello
    except SubjectSpecError as problem:
        raise Usage(str(problem)) from problem
    except SubjectUnavailable as problem:
        raise CouldNotRun(f"subject {spec}: {problem}") from problem
    if DECODE not in hello.roles:
        raise Usage(f"subject {spec}: it has the roles {', '.join(hello.roles)}; fuzzing takes {DECODE}")
    damages = FILE in hello.capabilities and not {SERVER, COMMITTED} & {*hello.capabilities}
    return subject_target(spec, damages=damages, software=f"{hello.name} {hello.version}".strip())


def _target_of(path: Path, name: str | None) -> Target:
    from fuzz.runner.errors import UnknownTarget
    from fuzz.runner.findings import read, target_of
    from fuzz.runner.targets import find

    known = read(path)
    try:
        if known is not None and not name:
            return target_of(known)
        return find([name or path.absolute().parent.name])[0]
    except UnknownTarget as problem:
        raise Usage(f"{path}: {problem}", hint="--target says which one an input is for") from problem


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as problem:
        raise Usage(f"{path}: {problem.strerror}") from problem


def _share(part: int, whole: int) -> str:
    return f"{part:5,} of {whole:5,} ({100 * part / whole if whole else 100:3.0f} %)"


def _ranges(lines: tuple[int, ...]) -> str:
    """Line numbers, with consecutive numbers written as ranges."""
    runs: list[list[int]] = []
    for number in lines:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)
