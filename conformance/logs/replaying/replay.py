"""Logs replayed from an empty state, and the tables that they give, printed or compared with data files."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from conformance.keyring_file import read_keyring
from conformance.logs.replaying.replayed_events import close, is_rows, replayed_events
from conformance.logs.replaying.starting import NOTHING
from conformance.logs.replaying.tables_output import print_tables
from conformance.logs.selection import SelectedLogs
from conformance.user_errors import InputCorrupt

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from conformance.logs.replaying.starting import Beginning
    from conformance.reference.replay.engine import Replay
    from conformance.reference.replay.table_state import TableState
    from conformance.reference.text.event_filter import Selection


def print_replay(
    files: Sequence[str], selection: Selection, form: str, beginning: Beginning = NOTHING, *,
    limit: int | None, keyring: Path | None, directory: Path | None = None,
) -> None:  # fmt: skip
    """Print the tables at the end of the logs. A damaged log ends the replay; the tables before are printed.

    ``beginning``: what is known from before the logs. ``directory``: where the files of the form ``parquet`` go.
    """
    if directory is not None:
        from conformance.logs.replaying.table_files import prepare_directory

        prepare_directory(directory)
    logs = SelectedLogs(files, selection, limit=limit, keyring=read_keyring(keyring))
    replay = beginning.replay(keyring)
    put = partial(_put, form, directory)
    put(_wanted(_replayed(logs, replay, put), selection))
    logs.check_names()


def verify_replay(
    files: Sequence[str], selection: Selection, form: str, data_files: Sequence[str],
    beginning: Beginning = NOTHING, *, limit: int | None, keyring: Path | None, jobs: int,
) -> None:  # fmt: skip
    """Compare the tables at the end of the logs with data files, which are opened first."""
    from conformance.logs.replaying.verification import Verification

    with Verification(data_files, keyring) as verification:
        logs = SelectedLogs(files, selection, limit=limit, keyring=read_keyring(keyring))
        if jobs > 1:
            from conformance.logs.replaying.shared_verification import verify_side_by_side

            verify_side_by_side(logs, verification, form, jobs)
        else:
            replay = _replayed(logs, beginning.replay(keyring), lambda _: None)
            verification.print(replay.tables, form)


def _put(form: str, directory: Path | None, tables: Sequence[TableState]) -> None:
    """Print tables in a form, or write them into a directory."""
    if form in ("text", "json"):
        print_tables(tables, form)
        return
    from conformance.logs.replaying.table_files import print_csv, write_parquet

    if directory is None:
        print_csv(tables)
    else:
        write_parquet(tables, directory)


def _replayed(logs: SelectedLogs, replay: Replay, put: Callable[[Sequence[TableState]], None]) -> Replay:
    """The tables at the end of the logs; of a log that ends before, the chosen ones are ``put``."""
    changes = 0
    try:
        for event in replayed_events(logs, replay):
            changes += is_rows(event)
    except InputCorrupt:
        replay.finish()
        put(_wanted(replay, logs.selection))
        raise
    close(*replay.finish(), changes)
    return replay


def _wanted(replay: Replay, selection: Selection) -> list[TableState]:
    """The tables of the chosen name; the statements that made the others were replayed too."""
    names = replace(selection, database=None)
    return [state for name, state in sorted(replay.tables.items()) if names.takes(*name)]
