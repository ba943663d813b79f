"""Which pages of a tablespace are in use, as the descriptors of its extents say (innodb-sdi B.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.reference.errors import CodecError

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.innodb.pages import Page, Tablespace

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
