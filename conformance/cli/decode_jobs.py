"""``decode --jobs``: parts of logs in processes of their own, and one output in order.

A part begins between two transactions. What is printed there may depend on what was printed before: a session's
settings, a GTID, a transaction that a filter leaves open. So a part's reader guesses this state: it takes that of the
latest part that is done, and looks at the events just before its own. Output counts only if the part before ended in
exactly the guessed state; else the part is read again from the true one. Where a state cannot be handed over, or rows
need a TABLE_MAP of an earlier part, one process reads all from the beginning, and drops what was printed already.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from conformance.cli.console import Output, narrate
from conformance.cli.logs import BesideEventsError
from conformance.cli.printers import Tally, lacks_table
from conformance.forked import Child, Children, forget_printed
from conformance.reference.binlog.rows import LazyRows
from scenarios.binlogs.parts import Part, starts_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from conformance.cli.filters import SelectedLogs
    from conformance.cli.printers import Printer
    from conformance.reference.binlog.files import FileReader

    Make = Callable[[], tuple[SelectedLogs, Printer]]

PART_BYTES: Final = 4 << 20  # of a part: a second of work or so
GUESS_BYTES: Final = 1 << 16  # in front of a part, that its reader looks at
_AHEAD: Final = 2  # parts for each job that are read before it is their turn


class Piece(NamedTuple):
    """Events of a file, by its number. ``start`` and ``stop`` as in :class:`Part`."""

    file: int
    start: int | None = None
    stop: int | None = None

    def part(self, files: Sequence[str]) -> Part | None:
        """What to read of the file; ``None``: all of it."""
        if self.start is None and self.stop is None:
            return None
        return Part(files[self.file], self.start, self.stop)


class Stretch(NamedTuple):
    """A piece, and the one just before it, which shows in what state it begins."""

    piece: Piece
    before: Piece | None


class Done(NamedTuple):
    """What a worker tells of a piece. ``end`` is ``None`` where the state cannot be handed over.

    ``begin`` is ``None`` where it could not guess, or where a TABLE_MAP is missing.
    """

    begin: Any
    end: Any
    tally: Tally
    stopped: bool = False
    error: Exception | None = None
    lacking: bool = False


def stretches(files: Sequence[str], first: int) -> Iterator[Stretch]:
    """All parts of the files in order. ``first``: where the first file begins."""
    tail: Piece | None = None
    for number, file in enumerate(files):
        start: int | None = None
        latest: int | None = None  # the place before this one
        before = tail
        for place in starts_of(file, GUESS_BYTES):
            if not number and place <= first:
                continue
            if place - (start or (0 if number else first)) >= PART_BYTES:
                yield Stretch(Piece(number, start, place), before)
                start, before = place, Piece(number, latest, place)
            latest = place
        yield Stretch(Piece(number, start), before)
        small = Path(file).stat().st_size <= PART_BYTES
        tail = Piece(number, latest) if latest is not None or small else None


def decode_side_by_side(make: Make, jobs: int, first: int) -> None:
    """Print all logs with this number of processes. ``make`` gives the logs, and a printer that has printed nothing."""
    logs, printer = make()
    chain = _Chain(make, logs.files, jobs)
    try:
        with Children(jobs) as children:
            chain.run(children, stretches(logs.files, first))
    finally:
        printer.close()
        chain.output.flush()
        narrate(printer.closing(chain.tally))


class _Chain:
    """The parts in order: what is known of the state between them, and what was printed."""

    def __init__(self, make: Make, files: Sequence[str], jobs: int) -> None:
        self.output = Output()
        self.tally = Tally()
        self._make = make
        self._files = files
        self._ahead = _AHEAD * jobs
        self._known: Any = None  # the state at the end of what was printed

    def run(self, children: Children, works: Iterator[Stretch]) -> None:
        """Start parts while there is room, and print what is next once it is done."""
        waiting: list[tuple[Stretch, Child]] = []
        begun = printed = False
        more = True
        while more or waiting:
            while more and children.free and len(waiting) < self._ahead:
                stretch = next(works, None)
                if stretch is None:
                    more = False
                    break
                guess = _Guess(self._known, first=not begun)
                waiting.append((stretch, children.start(partial(_read, self._make, *self._around(stretch), guess))))
                begun = True
            if not waiting:
                return
            stretch, child = waiting[0]
            if not child.done:
                children.wait()
                continue
            done: Done = child.take()
            if done.lacking or (printed and (done.begin is None or done.begin != self._known)):
                children.drop(child)
                if done.lacking or self._known is None:
                    for _, other in waiting[1:]:
                        children.drop(other)
                    waiting, more = [], False
                    work = partial(_read, self._make, *self._from_the_beginning(stretch), None)
                    waiting.append((stretch, children.start(work)))
                    printed = False  # nothing to compare with: it comes from the true beginning
                else:
                    known = _Guess(self._known, certain=True)
                    work = partial(_read, self._make, [], [stretch.piece], known)
                    waiting[0] = stretch, children.start(work)
                continue
            self._print(child, done)
            children.drop(child)
            del waiting[0]
            printed = True
            if done.error is not None:
                raise done.error
            if done.stopped:
                return

    def _print(self, child: Child, done: Done) -> None:
        for data in child.printed():
            self.output.write(data)
        self.output.flush()
        for text in child.told():
            sys.stderr.write(text)
        sys.stderr.flush()
        self.tally.add(done.tally)
        self._known = done.end

    def _around(self, stretch: Stretch) -> tuple[list[Piece], list[Piece]]:
        return [] if stretch.before is None else [stretch.before], [stretch.piece]

    def _from_the_beginning(self, stretch: Stretch) -> tuple[list[Piece], list[Piece]]:
        file, start, _ = stretch.piece
        before = [Piece(number) for number in range(file)]
        if start is not None:
            before.append(Piece(file, None, start))
        return before, [Piece(file, start), *[Piece(number) for number in range(file + 1, len(self._files))]]


class _Guess(NamedTuple):
    """What a part's reader takes for the state before the part. ``first``: there is nothing before it."""

    state: Any
    certain: bool = False
    first: bool = False


# --- in a worker -----------------------------------------------------------------------------------------------------


def _read(make: Make, before: Sequence[Piece], pieces: Sequence[Piece], guess: _Guess | None) -> Done:
    """Print some pieces. Without a guess, ``before`` has all events before them."""
    logs, printer = make()
    reading = _Reading(logs, printer)
    begin: Any = None
    if guess is not None and guess.state is not None:
        reading.enter(before[0] if before else pieces[0])
        printer.state, logs.state = guess.state
    elif guess is not None and before and before[0][:2] != (0, None):
        reading.glance(Piece(0))
    try:
        for piece in before:
            reading.read(piece, rows=guess is None)
        reading.enter(pieces[0])
        begin = guess.state if guess is not None and guess.certain else None if logs.stopped else reading.state
    except Exception:
        if guess is None:
            raise
        # The part before has the error: nobody asks for this one.
    if begin is None and guess is not None:
        return Done(None, None, Tally())
    printer.tally()
    printer.output.flush()
    forget_printed()
    error: Exception | None = None
    lacking = False
    try:
        for piece in pieces:
            lacking = reading.read(piece, alone=guess is not None)
            if lacking or logs.stopped:
                break
        last = pieces[-1]
        if not lacking and (logs.stopped or (last.file == len(logs.files) - 1 and last.stop is None)):
            printer.end()
    except BesideEventsError:
        lacking = True
    except Exception as problem:  # noqa: BLE001 - the command raises it when it is its turn
        error = problem
        printer.failed()
    end = None if error or lacking else reading.state
    printer.close()
    printer.output.flush()
    return Done(begin, end, printer.tally(), logs.stopped, error, lacking)


class _Reading:
    """Pieces for a printer, one behind the other."""

    def __init__(self, logs: SelectedLogs, printer: Printer) -> None:
        self._logs = logs
        self._printer = printer
        self._reader: FileReader = logs.reader
        self._place: tuple[int, int | None] | None = None  # where it is: file and position; ``None``: between files

    @property
    def state(self) -> Any:
        """The state that the next piece depends on; ``None`` where it cannot be handed over."""
        state = self._printer.state
        return None if state is None else (state, self._logs.state)

    def enter(self, piece: Piece) -> None:
        """Begin to read a file, if its beginning or another place of it is next."""
        if self._place is None and piece.start is None:
            return  # reading begins the file
        if self._place is None or self._place[0] != piece.file:
            self._begin(piece.file)
            self._place = piece.file, piece.start

    def _begin(self, file: int) -> None:
        self._printer.begin_file(self._logs.files[file])
        self._reader = self._logs.reader

    def read(self, piece: Piece, *, rows: bool = True, alone: bool = False) -> bool:
        """Print the events of a piece, with or without ``rows``. ``alone``: whether it ends at rows without a table,
        and says so.
        """
        self.enter(piece)
        if piece.start is None:
            self._begin(piece.file)
        watched = alone and piece.start is not None
        for event, choice in self._logs.part(piece.file, piece.part(self._logs.files), self._reader):
            if watched and lacks_table(event):
                return True
            if rows or not isinstance(event.body, LazyRows):
                self._printer.event(event, choice)
        self._place = piece.file, piece.stop
        if piece.stop is None and not self._logs.stopped:
            self._printer.end_file()
            self._place = None
        return False

    def glance(self, piece: Piece) -> None:
        """Look at the beginning of a file without its rows: the settings that are made once are often made there."""
        self._begin(piece.file)
        for event, choice in self._logs.part(piece.file, piece.part(self._logs.files), self._reader):
            if (event.position or 0) > GUESS_BYTES:
                break
            if not isinstance(event.body, LazyRows):
                self._printer.event(event, choice)
