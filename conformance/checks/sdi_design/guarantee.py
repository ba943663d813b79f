"""The worklog's guarantee: after a crash at any moment an offline reader finds a copy of before or of after the change.

A crash may leave any of the dirty pages written and any unwritten (innodb-sdi A.5). :class:`Guarantee` is called at
every moment, and asks about every such file: a copy with no page among the dirty ones reads alike in all of them.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Final

from conformance.reference.errors import DecodeError
from conformance.reference.innodb.sdi_design.pages import COPIES, Page, Reading, SdiKey, read_copy
from generators.draw import Stream

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.reference.innodb.sdi_design.storage import Image, Tablespace

    State = dict[SdiKey, bytes]

_ALL: Final = 8  # dirty pages of which every set is tried
_DRAWN: Final = 200  # sets of more pages


class GuaranteeBroken(Exception):
    """A crash at this moment leaves no copy that an offline reader can use."""

    def __init__(self, where: str, written: Sequence[int], unwritten: Sequence[int], found: Sequence[str]) -> None:
        super().__init__(where, written, unwritten, found)
        self.where, self.written, self.unwritten, self.found = where, tuple(written), tuple(unwritten), tuple(found)

    def __str__(self) -> str:
        copies = "; ".join(f"copy {number}: {words}" for number, words in enumerate(self.found))
        return f"{self.where}: pages {self.written} written, {self.unwritten} not: {copies}"


class Guarantee:
    """The judge of one tablespace. ``acceptable``: the states that a copy may show. ``points``: moments so far;
    ``files``: how many files were read for them."""

    def __init__(self, space: Tablespace) -> None:
        self.space = space
        self.acceptable: list[State] = [{}]
        self.points = 0
        self.files = 0
        self._known: dict[int, tuple[int, Reading | None]] = {}

    def __call__(self, where: str) -> None:
        """Judge a crash at this moment. Raises :class:`GuaranteeBroken`."""
        self.points += 1
        dirty = self.space.dirty.keys()
        for copy_num in range(COPIES):
            reading = self._reading(copy_num)
            if reading and reading.pages.isdisjoint(dirty) and reading.data in self.acceptable:
                return
        for written in _sets(sorted(dirty)):
            self.files += 1
            file = self.space.in_file(written)
            readings = [read_file(file, self.space.size, copy_num) for copy_num in range(COPIES)]
            if not any(isinstance(found, dict) and found in self.acceptable for found in readings):
                words = [found if isinstance(found, str) else "neither before nor after" for found in readings]
                raise GuaranteeBroken(where, written, [number for number in dirty if number not in written], words)

    def _reading(self, copy_num: int) -> Reading | None:
        """A copy as the file has it now, read once for each state of the file."""
        writes, reading = self._known.get(copy_num, (-1, None))
        if writes != self.space.writes:
            self.files += 1
            try:
                reading = read_copy(self.space.page_on_disk, self.space.size, copy_num)
            except DecodeError:
                reading = None
            self._known[copy_num] = self.space.writes, reading
        return reading


def read_file(file: dict[int, Image], size: int, copy_num: int) -> State | str:
    """Return the data that an offline reader finds in a copy, or the reason why it cannot read it."""

    def page(number: int) -> Page:
        image = file.get(number)
        if image is None or not image.sound:
            raise DecodeError("sdi-page", f"page {number} is not there")
        return image.page

    try:
        return read_copy(page, size, copy_num).data
    except DecodeError as error:
        return str(error)


def _sets(numbers: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """The sets of pages that a crash may leave written: all of them, or many."""
    if len(numbers) <= _ALL:
        for count in range(len(numbers) + 1):
            yield from combinations(numbers, count)
        return
    yield from combinations(numbers, 1)
    yield from combinations(numbers, len(numbers) - 1)
    for index in range(_DRAWN):
        draw = Stream("written pages", len(numbers), index)
        yield tuple(number for number in numbers if draw.chance(1, 2))
