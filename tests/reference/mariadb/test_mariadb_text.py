"""The text of MariaDB's logs against mariadb-binlog, byte for byte."""

from __future__ import annotations

import pytest

from conformance.reference.binlog.files import FileReader
from conformance.reference.binlog.rows import LazyRows
from conformance.reference.text.binlog_statements import MemorySpool
from conformance.reference.text.mariadb.log_text import MariadbLogText
from tests.reference.mariadb.mariadb_logs import WHOLE, log_of, text_of


def text_with_statements() -> MariadbLogText:
    return MariadbLogText(types=True, statements=MemorySpool(), dumps=False)


@pytest.mark.parametrize("name", WHOLE)
def test_the_text_is_that_of_mariadb_binlog(name: str) -> None:
    text = text_with_statements()
    reader = FileReader()
    reader.decoder.keep_bytes = True
    reader.feed(log_of(name))
    out = text.begin()
    for event in reader.events():
        out += b"".join(text.event(event, bytes(reader.decoder.event_bytes)))
    assert out + b"".join(text.end()) == text_of(name)


def test_a_text_goes_on_where_another_stopped() -> None:
    """As parts of a file do in several processes: only between statements, with all that later lines depend on."""
    reader = FileReader()
    reader.feed(log_of("transactions"))
    reader.decoder.keep_bytes = True
    text = text_with_statements()
    out = text.begin()
    for event in reader.events():
        out += b"".join(text.event(event, bytes(reader.decoder.event_bytes)))
        if text.state is not None:
            state, text = text.state, text_with_statements()
            text.state = state
    assert out + b"".join(text.end()) == text_of("transactions")


def test_rows_wait_for_the_end_of_their_statement() -> None:
    """A statement that changes two tables: its rows stand together, also where a filter or damage ends the text."""
    reader = FileReader()
    reader.feed(log_of("transactions"))
    text = MariadbLogText()
    printed = b""
    for event in reader.events():
        printed = b"".join(text.event(event))
        if isinstance(event.body, LazyRows) and not event.body.statement_end:
            break
    assert text.inside_statement
    assert b"### UPDATE" not in printed
    assert b"### UPDATE `s`.`t`" in b"".join(text.failed())
