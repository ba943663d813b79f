"""Walks over an index tree, from its root to all leaf records (innodb-lob 1, innodb-sdi B.5).

A walk goes down the leftmost pages, then along the leaves. It visits each page once and checks type, level, index and
neighbours. So damage cannot make it endless.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.reference.errors import CodecError
from conformance.reference.innodb.extents import Extents
from conformance.reference.innodb.pages import FIL_NULL, PageType
from conformance.reference.innodb.records import check_directory, index_id, is_compact, level, origins, read_record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conformance.reference.innodb.pages import Page, Tablespace
    from conformance.reference.innodb.records import IndexFormat, Record

    Damage = Callable[[CodecError], object]

_HIGHEST = 64  # a level that no tree reaches: each level multiplies the records


def index_page(space: Tablespace, number: int, kind: PageType = PageType.INDEX, *, check: bool = True) -> Page:
    """A page of an index, as it is in memory: pages of ROW_FORMAT=COMPRESSED are decompressed.

    ``check``: refuse a page whose records contradict its directory.
    """
    page = space.page(number)
    page.expect_type(kind)
    if not space.flags.compressed:
        if check:
            check_directory(page)
        return page
    from conformance.reference.innodb.page_zip import uncompressed

    return uncompressed(page, space.flags.logical)


def leaves(
    space: Tablespace, root: int, index: IndexFormat, kind: PageType = PageType.INDEX, *, owner: int | None = None
) -> Iterator[Page]:
    """The leaf pages of a tree in key order. ``owner``: the index that the pages must belong to, if it is known."""
    page = index_page(space, root, kind)
    height, wanted, seen = level(page), index_id(page), {root}
    for offset, name, expected, got in (
        (66, "index_id", wanted if owner is None else owner, wanted),
        (8, "prev", FIL_NULL, page.prev),
        (12, "next", FIL_NULL, page.next),
    ):
        if got != expected:
            raise page.error("wrong-page", "the page is not the root of the index", offset, name, expected, got)
    if height > _HIGHEST:
        raise page.error("bad-level", "no tree is so high", 64, "level", f"<= {_HIGHEST}", height)

    def checked(number: int, source: Page, at: int, field: str) -> Page:
        if number in seen:
            raise source.error("page-circle", "the tree leads to a page twice", at, field, got=number)
        seen.add(number)
        found = index_page(space, number, kind)
        for offset, name, expected, got in (
            (64, "level", height, level(found)),
            (66, "index_id", wanted, index_id(found)),
            (8, "prev", FIL_NULL if field == "child_page" else source.number, found.prev),
        ):
            if got != expected:
                raise found.error("wrong-page", "the tree cannot lead to this page", offset, name, expected, got)
        return found

    _check_format(page, index)
    nodes = page
    while height:
        first = next(origins(page), None)
        child = None if first is None else read_record(page, first, index).child
        if first is None or child is None:
            raise page.error("empty-node", "the page leads to no child", 54, "n_recs", "at least 1", 0)
        height, nodes = height - 1, page
        page = checked(child, page, first, "child_page")
        _check_format(page, index)
    children = _children(space, nodes, index, kind) if nodes is not page else iter(())
    while True:
        child = next(children, None)
        if child != page.number and nodes is not page:
            raise page.error("wrong-node-pointer", "the level above leads to another page here", 4, "number", child,
                             page.number)  # fmt: skip
        yield page
        if page.next == FIL_NULL:
            break
        page = checked(page.next, page, 12, "next")
        _check_format(page, index)
    for child in children:
        raise page.error("wrong-node-pointer", "the level above leads to a page behind the last one", 12, "next", child,
                         FIL_NULL)  # fmt: skip


def _children(space: Tablespace, page: Page, index: IndexFormat, kind: PageType) -> Iterator[int | None]:
    """The child pages of a level, from its first page on."""
    left = space.pages
    while True:
        for origin in origins(page):
            yield read_record(page, origin, index).child
        left -= 1
        if page.next == FIL_NULL or not left:
            return
        page = index_page(space, page.next, kind)


def _check_format(page: Page, index: IndexFormat) -> None:
    if is_compact(page) is index.redundant:
        raise page.error("wrong-row-format", "the page has records of another format", 42, "n_heap",
                         "REDUNDANT" if index.redundant else "COMPACT")  # fmt: skip


def leaf_records(
    space: Tablespace,
    root: int,
    index: IndexFormat,
    kind: PageType = PageType.INDEX,
    *,
    owner: int | None = None,
    damage: Damage | None = None,
) -> Iterator[tuple[Page, Record]]:
    """The records of all leaves in key order, each with its page; delete-marked ones too. ``owner`` as in leaves.

    ``damage`` gets the errors of pages and records. The walk then goes on with the next one that can be read.
    """
    for page in leaf_pages(space, root, index, kind, owner=owner, damage=damage):
        for record in page_records(page, index, damage):
            yield page, record


def leaf_pages(
    space: Tablespace,
    root: int,
    index: IndexFormat,
    kind: PageType = PageType.INDEX,
    *,
    owner: int | None = None,
    damage: Damage | None = None,
) -> Iterator[Page]:
    """The leaves of :func:`leaf_records`."""
    if damage is None:
        return leaves(space, root, index, kind, owner=owner)
    return _readable_leaves(space, root, index, kind, owner, damage)


def page_records(page: Page, index: IndexFormat, damage: Damage | None = None) -> Iterator[Record]:
    """The records of one page in key order. ``damage`` as in :func:`leaf_records`."""
    chain = origins(page)
    while True:
        try:
            place = next(chain, None)
            if place is None:
                return
            record = read_record(page, place, index)
        except CodecError as error:
            if damage is None:
                raise
            damage(error)
            continue
        yield record


def _readable_leaves(
    space: Tablespace, root: int, index: IndexFormat, kind: PageType, owner: int | None, damage: Damage
) -> Iterator[Page]:
    """The leaves; behind the first damage those that the level above leads to, then all others of the file.

    A damaged node loses the leaves below it. So every page in use is asked at last whether it is a leaf of this index.
    """
    done: set[int] = set()
    try:
        for page in leaves(space, root, index, kind, owner=owner):
            done.add(page.number)
            yield page
    except CodecError as error:
        damage(error)
    else:
        return
    for number in _leaf_numbers(space, root, index, kind, damage):
        if number in done:
            continue
        done.add(number)
        try:
            page = index_page(space, number, kind, check=False)
            if level(page):
                raise page.error("wrong-page", "the page is no leaf", 64, "level", 0, level(page))
            _check_format(page, index)
        except CodecError as error:
            damage(error)
            continue
        yield page
    if owner is not None:
        yield from _other_leaves(space, index, kind, owner, done, damage)


def _other_leaves(
    space: Tablespace, index: IndexFormat, kind: PageType, owner: int, done: set[int], damage: Damage
) -> Iterator[Page]:
    """The leaves of an index that no page leads to any more, in the order of the file. Freed pages are left out."""
    extents = Extents(space, damage)
    for number in range(1, space.pages):
        if number in done or extents.is_free(number):
            continue
        try:
            page = space.page(number)
            if page.type != kind or index_id(page) != owner or level(page):
                continue
            page = index_page(space, number, kind, check=False)
            _check_format(page, index)
        except CodecError as error:
            damage(error)
            continue
        yield page


def _leaf_numbers(space: Tablespace, root: int, index: IndexFormat, kind: PageType, damage: Damage) -> Iterator[int]:
    """The leaves by number, as the nodes lead to them; a damaged node loses those below it."""
    numbers = [root]
    try:
        for _ in range(min(_HIGHEST, level(index_page(space, root, kind, check=False)))):
            below: list[int] = []
            for number in numbers:
                try:
                    page = index_page(space, number, kind, check=False)
                    below += [read_record(page, origin, index).child or 0 for origin in origins(page)]
                except CodecError as error:
                    damage(error)
                if len(below) > space.pages:
                    break
            numbers = below
    except CodecError as error:
        damage(error)
        return
    yield from numbers
