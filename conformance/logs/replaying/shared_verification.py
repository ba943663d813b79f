"""Tables shared out between processes, to be compared with data files.

A replay needs all statements and transactions in order, but the rows of a table need no other table's. So each worker
reads all logs, follows every statement, and replays and compares the rows of its own tables alone. All workers see the
same events, so that they agree on whose a table is without asking each other.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.forked import Children
from conformance.logs.replaying.replayed_events import close, is_rows, replayed_events
from conformance.logs.replaying.verification import FileFindings
from conformance.reference.binlog.rows import LazyRows, RowsBody
from conformance.reference.errors import CodecError
from conformance.reference.replay.engine import Replay
from conformance.user_errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.logs.replaying.verification import Verification
    from conformance.logs.selection import SelectedLogs
    from conformance.reference.binlog.event import Event
    from conformance.reference.replay.data_files import Comparison
    from conformance.reference.replay.table_state import TableState
    from conformance.reference.sql.definition_reader import TableName

_END_OF_LOGS: Final = "\0"  # between a worker's messages about logs and those about files; no message has it


class Share(NamedTuple):
    """The findings of a worker.

    ``events``: how many it read before the ``error``. ``owned``: the tables it compared.
    """

    events: int
    error: UserError | None = None
    open_changes: int = 0
    prepared: int = 0
    changes: int = 0
    owned: frozenset[TableName] = frozenset()
    comparisons: Sequence[Comparison] = ()
    files: FileFindings | None = None


def verify_side_by_side(logs: SelectedLogs, verification: Verification, form: str, jobs: int) -> None:
    """Replay, compare and print. Raises as :meth:`Verification.print`."""
    with Children(jobs) as children:
        workers = [children.start(partial(_verify, logs, verification, number, jobs)) for number in range(jobs)]
        while not all(worker.done for worker in workers):
            children.wait()
        shares: list[Share] = [worker.take() for worker in workers]
        failed = [number for number, share in enumerate(shares) if share.error is not None]
        first = min(failed, key=lambda number: shares[number].events) if failed else 0
        about_logs, _, about_files = "".join(workers[first].told()).partition(_END_OF_LOGS)
    sys.stderr.write(about_logs)
    error = shares[first].error
    if error is not None:
        raise error
    close(sum(share.open_changes for share in shares), shares[0].prepared, shares[0].changes)
    sys.stderr.write(about_files)
    assert shares[0].files is not None
    verification.show(_merged(shares), shares[0].files, form)


def _merged(shares: Sequence[Share]) -> Iterator[Comparison]:
    """Each comparison from the worker whose table it is. Their order is that of the files, then of the names."""
    in_files = [comparison for comparison in shares[0].comparisons if not comparison.only_in_log]
    for place, comparison in enumerate(in_files):
        owner = next((share for share in shares if comparison.name in share.owned), shares[0])
        yield owner.comparisons[place]
    rest = {each.name: each for share in shares for each in share.comparisons if each.only_in_log}
    yield from (rest[name] for name in sorted(rest))


# --- in a worker -----------------------------------------------------------------------------------------------------


class SharedReplay(Replay):
    """A replay of all statements, and of the rows of those tables that this one of ``jobs`` workers owns."""

    def __init__(self, number: int, jobs: int) -> None:
        super().__init__()
        self._number, self._jobs = number, jobs
        self._owners: dict[TableState, int] = {}  # tables in the order of their first rows; a renamed one stays itself

    def event(self, event: Event) -> None:
        """Take one event."""
        body = event.body
        if isinstance(body, (LazyRows, RowsBody)) and body.table is not None:
            state = self._state(body.map())
            if self._owners.setdefault(state, len(self._owners) % self._jobs) != self._number:
                with suppress(CodecError):  # the owner has the same error
                    state.bind(body.map())
                return
        super().event(event)

    def others(self) -> set[TableName]:
        """The tables whose rows other workers have."""
        return {state.name for state, owner in self._owners.items()
                if owner != self._number and self.tables.get(state.name) is state}  # fmt: skip

    def owned(self) -> frozenset[TableName]:
        """The tables whose rows this worker has; tables without rows belong to all."""
        return frozenset(self.tables.keys() - self.others())


def _verify(logs: SelectedLogs, verification: Verification, number: int, jobs: int) -> Share:
    replay = SharedReplay(number, jobs)
    events = changes = 0
    try:
        for event in replayed_events(logs, replay):
            events += 1
            changes += is_rows(event)
    except UserError as error:
        return Share(events, error)
    open_changes, prepared = replay.finish()
    sys.stderr.write(_END_OF_LOGS)
    files = verification.files()
    owned = replay.owned()
    found = list(files.compare({name: replay.tables[name] for name in owned}, replay.tables))
    if verification.whole and not number:
        files.check_pages()
    findings = FileFindings(files.problems, files.notes, files.not_compared)
    return Share(events, None, open_changes, prepared, changes, owned, found, findings)
