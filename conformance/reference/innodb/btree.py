"""Walks over an index tree, from its root to all leaf records (innodb-lob 1, innodb-sdi B.5).

A walk goes down the leftmost pages, then along the leaves. It visits each page once and checks type, level, index and
neighbours. So damage cannot make it endless.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.reference.innodb.pages import FIL_NULL, PageType
from conformance.reference.innodb.records import check_directory, index_id, is_compact, level, origins, read_record

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.reference.innodb.pages import Page, Tablespace
    from conformance.reference.innodb.records import IndexFormat, Record

_HIGHEST = 64  # a level that no tree reaches: each level multiplies the records


def index_page(space: Tablespace, number: int, kind: PageType = PageType.INDEX) -> Page:
    """A page of an index, as it is in memory: pages of ROW_FORMAT=COMPRESSED are decompressed."""
    page = space.page(number)
    page.expect_type(kind)
    if not space.flags.compressed:
        check_directory(page)
        return page
    from conformance.reference.innodb.page_zip import uncompressed

    return uncompressed(page, space.flags.logical)


def leaves(space: Tablespace, root: int, index: IndexFormat, kind: PageType = PageType.INDEX) -> Iterator[Page]:
    """The leaf pages of a tree in key order."""
    page = index_page(space, root, kind)
    height, wanted, seen = level(page), index_id(page), {root}
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
    space: Tablespace, root: int, index: IndexFormat, kind: PageType = PageType.INDEX
) -> Iterator[tuple[Page, Record]]:
    """The records of all leaves in key order, each with its page; delete-marked ones too."""
    for page in leaves(space, root, index, kind):
        for origin in origins(page):
            yield page, read_record(page, origin, index)
