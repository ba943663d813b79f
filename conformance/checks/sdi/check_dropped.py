"""The table of dictionary information leaves the server's cache when its tablespace is dropped (SDI68).

INFORMATION_SCHEMA.INNODB_BUFFER_PAGE looks up the name of a page's index in that cache. The pages of a dropped
tablespace stay in memory for a while, and their index has no name any more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import pytest

from conformance.checks.sdi.servers import own_files
from conformance.judge.problem import Problem
from generators.draw import Stream

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.harness.check import Check
    from conformance.servers.wire.connection import Connection
    from conformance.servers.wire.packets import Result
    from generators.draw import Draw

_PAGES: Final = (
    "SELECT page_number, index_name FROM information_schema.innodb_buffer_page "
    "WHERE space = {space} AND page_type = 'SDI_INDEX' ORDER BY page_number"
)
_INDEX: Final = "CLUST_IND_SDI"  # of every tablespace: innodb-sdi B.5, observed on 9.7.4 and 8.0.45
_TRIES: Final = 3  # a look that comes too late finds no page
_SPACE: Final = "SELECT space FROM information_schema.innodb_tablespaces WHERE name = '{name}'"


class Named(NamedTuple):
    """A page of dictionary information that is in memory, and its index's name; ``None``: the cache has no such
    index."""

    page: int
    name: str | None


class Dropped(NamedTuple):
    """The pages of a tablespace in memory, before DROP TABLESPACE and behind it."""

    before: Sequence[Named]
    after: Sequence[Named]

    @property
    def shows(self) -> bool:
        """Whether a page that had a name is still there."""
        named = {page.page for page in self.before if page.name is not None}
        return any(page.page in named for page in self.after)


def uncached(dropped: Dropped) -> Iterator[Problem]:
    """SDI68: no page of a dropped tablespace is of an index that the cache still has."""
    for page in dropped.after:
        if page.name is not None:
            yield Problem(f"page {page.page}, INDEX_NAME", "NULL", page.name,
                          "the table of dictionary information stays in the cache")  # fmt: skip


def misnamed(dropped: Dropped) -> Iterator[Problem]:
    """SDI68: before the drop, a name is that of the index of dictionary information."""
    for page in dropped.before:
        if page.name not in (None, _INDEX):
            yield Problem(f"page {page.page}, INDEX_NAME", _INDEX, str(page.name),
                          "a page of dictionary information is of another index")  # fmt: skip


@pytest.mark.check("dropped")
def test_the_cache_forgets_dropped_tablespaces(check: Check) -> None:
    """General tablespaces, and tables with a file of their own, are made and dropped."""
    with own_files(check) as (_, connection, schema):
        for number in check.blocks():
            with check.block(number, cases=1) as block:
                draw = Stream("sdi-dropped", check.seed, number)
                dropped = observe(connection, schema, draw)
                for attempt in range(_TRIES - 1):
                    if dropped.shows or any(problems_of(dropped)):
                        break
                    dropped = observe(connection, schema, draw.fork("again", attempt))
                problems = [*problems_of(dropped)]
                block.differs(*problems)
                if not problems and not dropped.shows:
                    block.inconclusive("no page of the dropped tablespace is left in memory")


def problems_of(dropped: Dropped) -> Iterator[Problem]:
    """All that differs from SDI68."""
    yield from misnamed(dropped)
    yield from uncached(dropped)


def observe(connection: Connection, schema: str, draw: Draw) -> Dropped:
    """Make a tablespace with a table in it, and drop both."""
    columns = ", ".join(f"c{number} INT" for number in range(1 + draw.below(9)))
    general = draw.below(2) == 0
    name = f"{schema}_dropped" if general else f"{schema}/dropped"
    place = f" TABLESPACE {name}" if general else ""
    made = [f"CREATE TABLESPACE {name} ADD DATAFILE '{name}.ibd'"] if general else []
    connection.execute_many([*made, f"CREATE TABLE dropped ({columns}){place}"]).check()
    space = connection.execute(_SPACE.format(name=name)).number()
    before = pages_of(connection, space)
    # In one message: on a busy machine the pages may be gone by the next one.
    drops = ["DROP TABLE dropped", *([f"DROP TABLESPACE {name}"] if general else [])]
    *_, after = connection.execute_many([*drops, _PAGES.format(space=space)]).check()
    return Dropped(before, named(after))


def pages_of(connection: Connection, space: int) -> list[Named]:
    """The pages of dictionary information of a tablespace that are in memory."""
    return named(connection.execute(_PAGES.format(space=space)))


def named(answer: Result) -> list[Named]:
    """The pages of an answer."""
    return [Named(int(str(page)), name) for page, name in answer.texts()]
