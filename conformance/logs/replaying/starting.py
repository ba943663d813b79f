"""The beginning of a replay: tables from data files, or from a dump of rows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.logs.inputs import is_data_file
from conformance.user_errors import InputCorrupt, Usage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.reference.replay.engine import Replay


class Beginning(NamedTuple):
    """The facts before the logs: tables in data files and dumps, and the source's time zone SYSTEM."""

    sources: tuple[str, ...] = ()
    time_zone: str | None = None

    def replay(self, keyring: Path | None) -> Replay:
        """A replay with these tables. Raises :class:`InputCorrupt` for what cannot be read."""
        from conformance.reference.replay.engine import Replay

        replay = Replay(system_time_zone=self.time_zone)
        files = [path for path in self.sources if is_data_file(path)]
        for path in self.sources:
            if path not in files:
                _start_from_dump(replay, path)
        if files:
            _start_from_files(replay, files, keyring)
        return replay


NOTHING: Final = Beginning()


def _start_from_dump(replay: Replay, path: str) -> None:
    from conformance.reference.errors import CodecError
    from conformance.reference.replay.dumps import start_from_dump

    try:
        with Path(path).open(encoding="utf-8", errors="surrogateescape") as lines:
            start_from_dump(replay, lines)
    except OSError as problem:
        raise Usage(f"{path}: {problem.strerror or problem}") from problem
    except CodecError as error:
        raise InputCorrupt(f"{path}: {error}") from error


def _start_from_files(replay: Replay, paths: Sequence[str], keyring: Path | None) -> None:
    from conformance.data_files.tablespaces import tablespaces
    from conformance.reference.errors import CodecError
    from conformance.reference.replay.starting_tables import start_from_files

    with tablespaces(paths, keyring=keyring) as opened:
        try:
            start_from_files(replay, [(file.name, file.space) for file in opened])
        except CodecError as error:
            raise InputCorrupt(str(error)) from error
