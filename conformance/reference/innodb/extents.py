"""Pages of a tablespace one by one: which are in use, as the descriptors of its extents say, and which are damaged
(innodb-sdi B.3).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.reference.errors import CodecError
from conformance.reference.innodb.pages import PageType

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from conformance.reference.innodb.pages import Page, Tablespace

_TRX_SYS: Final = 5  # the page of the transaction system, in the system tablespace
_DOUBLEWRITE: Final = 190  # from the end of that page: a magic number, and the first pages of both extents
_DOUBLEWRITE_MAGIC: Final = 536853855
_BITMAP: Final = 24  # in a descriptor: two bits for each page, the lower one set while the page is free


class Extents:
    """The descriptors of one file. ``damage`` gets the errors of their pages, once each."""

    def __init__(self, space: Tablespace, damage: Callable[[CodecError], object]) -> None:
        self._space, self._damage = space, damage
        self._pages: dict[int, Page | None] = {}

    def is_free(self, number: int) -> bool:
        """Whether the page is free. A page whose descriptor cannot be read is not: it may have rows."""
        where, at = self._space.flags.descriptor_place(number)
        page = self._page(where)
        bit = 2 * (number % self._space.flags.extent)
        return page is not None and bool(page.u1(at + _BITMAP + bit // 8, "bitmap") >> bit % 8 & 1)

    def _page(self, number: int) -> Page | None:
        if number not in self._pages:
            try:
                self._pages[number] = self._space.page(number)
            except CodecError as error:
                self._pages[number] = None
                self._damage(error)
        return self._pages[number]


def page_errors(space: Tablespace) -> Iterator[CodecError]:
    """The errors of pages, whatever they are for.

    The system tablespace of a server from before 8.0.20 has copies of other pages, for torn writes: they are left out.
    """
    copies = _doublewrite(space)
    for number in range(space.pages):
        try:
            if number not in copies:
                space.page(number)
        except CodecError as error:
            yield error


def _doublewrite(space: Tablespace) -> Collection[int]:
    """The pages of the doublewrite buffer: two extents, whose places the page of the transaction system has."""
    if space.space_id or space.pages <= _TRX_SYS:
        return ()
    try:
        page = space.page(_TRX_SYS)
    except CodecError:
        return ()
    at = len(page.data) - _DOUBLEWRITE
    if page.type != PageType.TRX_SYS or page.u4(at, "magic") != _DOUBLEWRITE_MAGIC:
        return ()
    size = space.flags.extent
    first, second = page.u4(at + 4, "block"), page.u4(at + 8, "block")
    return {*range(first, first + size), *range(second, second + size)}
