"""LOB12 to LOB19, LOB21: fields, entries and types of the pages of large objects in a real file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from conformance.checks.lob_pages import run
from conformance.checks.lob_pages.judge import JUDGED, LENGTH_DEVIATION, Judge, compressed_types
from conformance.servers.roles.data_files import readable
from generators.draw import Stream

if TYPE_CHECKING:
    from conformance.harness.check import Check

ROWS: Final = 25  # of a table
NEEDS: Final = "a server: documents are stored in its data files"
UNREADABLE: Final = "needs an empty secure_file_priv: the server's data files are read by LOAD_FILE"


@pytest.mark.check("fields")
def test_fields(check: Check) -> None:
    """Each field has what the server says elsewhere: transactions, lengths, the space, and the documents of its log."""
    server = check.needs_started_server(NEEDS)
    for number in check.blocks():
        draw = Stream("lob-pages", check.seed, number)
        with server.connect() as session, server.schema(session) as schema, server.connect(database=schema) as reader:
            if not readable(session):
                check.leave_out(UNREADABLE)
            run.create(session)
            reader.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT")  # older versions stay
            rows = run.known_rows(server, session, draw, ROWS)
            listed = check.lab.listed(name=LENGTH_DEVIATION) is not None
            judge = Judge(run.known_file(session), short_lengths=listed)
            reader.execute("ROLLBACK")
        for row in rows:
            judge.row(row)
        judge.every_page_reached()
        for requirement in JUDGED:
            with check.part(requirement, requirement).block(number, cases=ROWS) as block:
                block.differs(*judge.problems[requirement])


@pytest.mark.check("compressed")
def test_compressed_types(check: Check) -> None:
    """The five types of pages of a compressed large object have the numbers that the article names."""
    server = check.needs_started_server(NEEDS)
    for number in check.blocks():
        with server.connect() as session, server.schema(session):
            if not readable(session):
                check.leave_out(UNREADABLE)
            run.create(session, run.COMPRESSED)
            run.store_chunks(session, Stream("lob-chunks", check.seed, number))
            pages, problems = compressed_types(run.known_file(session, page_size=run.COMPRESSED_PAGE))
        with check.block(number, cases=pages) as block:
            block.differs(*problems)
