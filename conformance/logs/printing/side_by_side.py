"""Logs printed side by side: their parts in processes of their own, and one output in order.

A part begins between two transactions. What is printed there may depend on what was printed before: a session's
settings, a GTID, a transaction that a filter leaves open. So a part's reader guesses this state: it takes that of the
latest part that is done, and looks at the events just before its own. Output counts only if the part before ended in
exactly the guessed state; else the part is read again from the true one. Some states cannot be handed over, and some
rows need a TABLE_MAP of an earlier part. Then one process reads all from the beginning, and drops what was printed
already.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from conformance.console import Output, narrate
from conformance.forked import Child, Children, forget_printed
from conformance.logs.events import BesideEventsError
from conformance.logs.parts import Part, starts_of
from conformance.logs.printing.printers import Tally, lacks_table
from conformance.logs.refusals import tell_unread
from conformance.reference.binlog.rows import LazyRows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from conformance.logs.printing.printers import Printer
    from conformance.logs.selection import SelectedLogs
    from conformance.reference.binlog.files import FileReader

    Make = Callable[[], tuple[SelectedLogs, Printer]]

PART_BYTES: Final = 4 << 20  # of a part: a second of work or so
GUESS_BYTES: Final = 1 << 16  # in front of a part, that its reader looks at
_NOTHING: Final = object()  # instead of a state: nothing was printed
_AHEAD: Final = 2  # parts for each job that are read before it is their turn


class Piece(NamedTuple):
    """Events of a file, by its number. ``start`` and ``stop`` as in :class:`Part`."""

    file: int
    start: int | None = None
    stop: int | None = None

    def part(self, files: Sequence[str]) -> Part | None:
        """Return the part of the file that is read; ``None``: all of it."""
        if self.start is None and self.stop is None:
            return None
        return Part(files[self.file], self.start, self.stop)


class Stretch(NamedTuple):
    """A piece to print, and the piece just before it, from whose events a reader guesses the state."""

    piece: Piece
    before: Piece | None


class Done(NamedTuple):
    """The report of a worker about a piece. ``begin`` and ``end``: the states before and behind it.

    ``begin`` is ``None`` where the worker could not guess it; ``end`` is ``None`` where no state can be handed over.
    ``lacking``: the piece needs a TABLE_MAP of an earlier one.
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
    with Children(jobs) as children:
        chain = _Chain(children, make, logs.files, first, jobs)
        try:
            chain.run()
        finally:
            printer.close()
            chain.output.flush()
            narrate(printer.closing(chain.tally))
    tell_unread(chain.tally.unread)
    logs.met.update(chain.tally.met)
    logs.check_names()


class _Chain:
    """The parts in order: what is known of the state between them, and what was printed."""

    def __init__(self, children: Children, make: Make, files: Sequence[str], first: int, jobs: int) -> None:
        self.output = Output()
        self.tally = Tally()
        self._make = make
        self._files = files
        self._children = children
        self._works = stretches(files, first)
        self._ahead = _AHEAD * jobs
        self._waiting: list[tuple[Stretch, Child]] = []
        self._known: Any = _NOTHING  # the state at the end of what was printed

    def run(self) -> None:
        """Start parts while there is room, and print what is next once it is done."""
        while True:
            self._start()
            if not self._waiting:
                return
            stretch, child = self._waiting[0]
            if not child.done:
                self._children.wait()
                continue
            done: Done = child.take()
            if self._holds(done):
                self._print(child, done)
                self._children.drop(child)
                del self._waiting[0]
                if done.error is not None:
                    raise done.error
                if done.stopped:
                    return
            elif done.lacking or self._known is None:
                for _, other in self._waiting:
                    self._children.drop(other)
                self._works, self._known = iter(()), _NOTHING
                self._waiting = [(stretch, self._child(*self._from_the_beginning(stretch), None))]
            else:
                self._children.drop(child)
                again = self._child([], [stretch.piece], _Guess(self._known, certain=True))
                self._waiting[0] = stretch, again

    def _start(self) -> None:
        while self._children.free and len(self._waiting) < self._ahead:
            stretch = next(self._works, None)
            if stretch is None:
                return
            first = self._known is _NOTHING and not self._waiting
            guess = _Guess(None if self._known is _NOTHING else self._known, first=first)
            before = [] if stretch.before is None else [stretch.before]
            self._waiting.append((stretch, self._child(before, [stretch.piece], guess)))

    def _child(self, before: list[Piece], pieces: list[Piece], guess: _Guess | None) -> Child:
        return self._children.start(partial(_read, self._make, before, pieces, guess))

    def _holds(self, done: Done) -> bool:
        """Whether a part began in the state that the output before it ended in."""
        if self._known is _NOTHING:
            return not done.lacking
        return not done.lacking and done.begin is not None and bool(done.begin == self._known)

    def _print(self, child: Child, done: Done) -> None:
        self._known = done.end
        for data in child.printed():
            self.output.write(data)
            self._children.wait(0)  # whoever reads the output may be slow: the others go on
            self._start()
        self.output.flush()
        for text in child.told():
            sys.stderr.write(text)
        sys.stderr.flush()
        self.tally.add(done.tally)

    def _from_the_beginning(self, stretch: Stretch) -> tuple[list[Piece], list[Piece]]:
        file, start, _ = stretch.piece
        before = [Piece(number) for number in range(file)]
        if start is not None:
            before.append(Piece(file, None, start))
        return before, [Piece(file, start), *[Piece(number) for number in range(file + 1, len(self._files))]]


class _Guess(NamedTuple):
    """The state that a part's reader assumes before the part. ``first``: there is nothing before it."""

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
        """Begin the file of a piece, unless reading is inside this file or reads its beginning anyway."""
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
