"""The packet reader against a doubled server at the other end of a socket pair."""

from __future__ import annotations

import socket
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from conformance.servers.errors import ConnectionLost, ProtocolError, ServerDied, SqlError
from conformance.servers.wire import connection as connection_module
from conformance.servers.wire.connection import Address, Connection
from conformance.servers.wire.packets import MAX_PAYLOAD, PacketStream, Result, lenenc, parse_row

if TYPE_CHECKING:
    from collections.abc import Iterator

OK = b"\x00\x01\x02\x02\x00\x03\x00hello"  # affected 1, insert id 2, status autocommit, 3 warnings
OK_MORE = b"\x00\x00\x00\x0a\x00\x00\x00"
ERROR = b"\xff\x28\x04#42000no such thing"
EOF = b"\xfe\x00\x00\x02\x00"
EOF_MORE = b"\xfe\x00\x00\x0a\x00"
COLUMN = b"\x03def\x00\x00\x00\x01j\x00\x0c\x2d\x00\x00\x00\x00\x00\xfc\x00\x00\x00\x00\x00"


def packets(*payloads: bytes) -> bytes:
    return b"".join(
        len(payload).to_bytes(3, "little") + bytes((number + 1 & 0xFF,)) + payload
        for number, payload in enumerate(payloads)
    )


class Raw:
    connection_id = 7
    server_info = "9.7.4"


@contextmanager
def talking(answer: bytes, *, close: bool = True, chunk: int = 1 << 20) -> Iterator[tuple[Connection, bytearray]]:
    """A connection whose server reads one command, sends ``answer`` in pieces, and goes."""
    ours, theirs = socket.socketpair()
    received = bytearray()

    def serve() -> None:
        received.extend(theirs.recv(65536))
        try:
            for start in range(0, len(answer), chunk):
                theirs.sendall(answer[start : start + chunk])
        except OSError:
            return
        if close:
            theirs.shutdown(socket.SHUT_WR)

    thread = threading.Thread(target=serve)
    thread.start()
    stream = PacketStream(ours, query_attributes=True)
    connection = Connection(Raw(), stream, Address(), lambda error: error)
    connection._max_packet = 1 << 20
    try:
        yield connection, received
    finally:
        connection.closed = True
        stream.close()
        thread.join()
        theirs.close()


def test_an_ok_packet_is_a_result_without_columns() -> None:
    with talking(packets(OK)) as (connection, received):
        result = connection.execute("DO 1")
    assert result == Result(affected=1, last_insert_id=2, warnings=3, info="hello")
    assert received == b"\x07\x00\x00\x00\x03\x00\x01DO 1"


def test_an_error_has_number_state_text_and_statement_and_the_session_goes_on() -> None:
    with talking(packets(ERROR)) as (connection, _), pytest.raises(SqlError) as caught:
        connection.execute("SELEC")
    error = caught.value
    assert (error.number, error.sqlstate, error.message, error.statement) == (1064, "42000", "no such thing", "SELEC")


def test_an_error_without_a_state_is_read_too() -> None:
    with talking(packets(b"\xff\x10\x04Too many connections")) as (connection, _), pytest.raises(SqlError) as caught:
        connection.execute("DO 1")
    assert (caught.value.number, caught.value.sqlstate) == (1040, "HY000")


@pytest.mark.parametrize("chunk", [1, 3, 7, 1 << 20])
def test_rows_are_read_whatever_the_pieces_they_come_in(chunk: int) -> None:
    long = b"x" * 300
    rows = (b"\x01a", b"\xfb", b"\x00", b"\xfc\x2c\x01" + long)
    with talking(packets(b"\x01", COLUMN, EOF, *rows, EOF), chunk=chunk) as (connection, _):
        result = connection.execute("SELECT j")
    assert result.columns == ("j",)
    assert result.rows == ((b"a",), (None,), (b"",), (long,))
    assert result.texts()[:2] == [("a",), (None,)]
    assert result.named()[0] == {"j": "a"}


def test_text_that_is_not_utf8_is_shown_byte_by_byte() -> None:
    with talking(packets(b"\x01", COLUMN, EOF, b"\x04a\xfb\xc3\xa4", EOF)) as (connection, _):
        result = connection.execute("SELECT j")
    assert result.rows == ((b"a\xfb\xc3\xa4",),)
    assert result.texts() == [("a\\xfbä",)]
    assert result.scalar() == "a\\xfbä"
    assert result.named() == [{"j": "a\\xfbä"}]


def test_a_row_that_begins_with_the_byte_of_eof_is_not_an_end() -> None:
    big = b"y" * (1 << 24)
    row = b"\xfe" + len(big).to_bytes(8, "little") + big
    answer = packets(b"\x01", COLUMN, EOF) + packets(row[:MAX_PAYLOAD], row[MAX_PAYLOAD:]) + packets(EOF)
    with talking(answer) as (connection, _):
        assert connection.execute("SELECT j").rows == ((big,),)


def test_a_packet_of_exactly_the_limit_is_followed_by_an_empty_one() -> None:
    row = b"\xfe" + (MAX_PAYLOAD - 9).to_bytes(8, "little") + b"z" * (MAX_PAYLOAD - 9)
    with talking(packets(b"\x01", COLUMN, EOF) + packets(row, b"") + packets(EOF)) as (connection, _):
        (value,) = connection.execute("SELECT j").rows[0]
    assert value is not None
    assert len(value) == MAX_PAYLOAD - 9


def test_a_command_over_the_limit_is_split() -> None:
    ours, theirs = socket.socketpair()
    received = bytearray()

    def read() -> None:
        while chunk := theirs.recv(1 << 20):
            received.extend(chunk)

    thread = threading.Thread(target=read)
    thread.start()
    PacketStream(ours, query_attributes=False).send(b"\x03" + b"a" * (MAX_PAYLOAD - 1))
    ours.close()
    thread.join()
    theirs.close()
    assert received[:4] == b"\xff\xff\xff\x00"
    assert received[-4:] == b"\x00\x00\x00\x01"
    assert len(received) == 4 + MAX_PAYLOAD + 4


def test_a_batch_gives_results_in_order() -> None:
    answer = packets(OK_MORE, b"\x01", COLUMN, EOF, b"\x011", EOF_MORE, OK)
    with talking(answer) as (connection, received):
        batch = connection.execute_many(["DO 1", "SELECT 1; ", "DO 3"])
    assert received.endswith(b"DO 1;SELECT 1;DO 3")
    assert [result.rows for result in batch.check()] == [(), ((b"1",),), ()]


def test_a_batch_tells_which_statement_failed() -> None:
    with talking(packets(OK_MORE, ERROR)) as (connection, _):
        batch = connection.execute_many(["DO 1", "SELEC", "DO 3"])
    assert len(batch.results) == 1
    assert batch.error is not None
    assert (batch.error.position, batch.error.statement, batch.error.number) == (1, "SELEC", 1064)
    with pytest.raises(SqlError):
        batch.check()


def test_a_batch_whose_results_do_not_match_its_statements_is_an_error() -> None:
    with talking(packets(OK_MORE, OK)) as (connection, _), pytest.raises(ProtocolError, match="2 results for 1"):
        connection.execute_many(["CALL p()"])
    with talking(packets(OK)) as (connection, _), pytest.raises(ProtocolError, match="1 results for 2"):
        connection.execute_many(["DO 1", "-- nothing"])


def test_a_batch_is_cut_into_packets_that_the_server_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_module, "_PACKET_TARGET", 20)
    with talking(b"") as (connection, _):
        assert connection._pack(["DO 11111", "DO 22222", "DO 33333"], 0) == (2, b"DO 11111;DO 22222")
        assert connection._pack(["DO 11111", "DO 22222", "DO 33333"], 2) == (3, b"DO 33333")
        assert connection._pack(["DO " + "1" * 50], 0)[0] == 1
        with pytest.raises(ValueError, match="statement 0 is empty"):
            connection._pack([" ;"], 0)


def number(*rows: bytes) -> int:
    with talking(packets(b"\x01", COLUMN, EOF, *rows, EOF)) as (connection, _):
        return connection.execute("SELECT n").number()


def test_numbers_are_read() -> None:
    assert number(b"\x010") == 0
    assert number(b"\x1418446744073709551615") == (1 << 64) - 1


@pytest.mark.planted
@pytest.mark.parametrize(
    ("value", "words"),
    [(b"\xfb", "NULL"), (b"\x00", "''"), (b"\x02-1", "'-1'"), (b"\x031.5", "'1.5'"), (b"\x02\xc2\xb2", "'²'")],
)
def test_what_is_no_number_is_no_answer(value: bytes, words: str) -> None:
    with pytest.raises(ProtocolError, match=f"^expected a whole number, got {words}$"):
        number(value)


@pytest.mark.planted
def test_a_number_has_one_row() -> None:
    with pytest.raises(ProtocolError, match="expected one row, got 2"):
        number(b"\x011", b"\x011")


@pytest.mark.parametrize("end", [EOF[:1], EOF[:4], EOF + b"\0", EOF + b"\0\0\0"])
@pytest.mark.parametrize("behind", ["columns", "rows"])
def test_an_end_of_another_length_is_no_end(end: bytes, behind: str) -> None:
    ends = (end, EOF) if behind == "columns" else (EOF, end)
    answer = packets(b"\x01", COLUMN, ends[0], b"\x011", ends[1])
    with talking(answer) as (connection, _), pytest.raises(ProtocolError, match="expected an EOF packet of 5 bytes"):
        connection.execute("SELECT 1")


@pytest.mark.parametrize("cut", range(1, len(packets(b"\x01", COLUMN, EOF, b"\x011", EOF))))
def test_an_answer_that_breaks_off_anywhere_is_a_lost_connection(cut: int) -> None:
    whole = packets(b"\x01", COLUMN, EOF, b"\x011", EOF)
    with talking(whole[:cut]) as (connection, _), pytest.raises(ConnectionLost) as first:
        connection.execute("SELECT 1")
    with pytest.raises(ConnectionLost) as second:
        connection.execute("SELECT 1")
    assert str(second.value) == str(first.value)


@pytest.mark.parametrize(
    "answer",
    [
        packets(b"\xfb/etc/passwd"),  # a request for a local file
        packets(b"\x00"),
        packets(b"\x00\x01\x02\x02"),
        packets(b""),
        packets(b"\x01", COLUMN, EOF, b"\x05ab", EOF),
        packets(b"\x01", COLUMN, EOF, b"\x01a\x01b", EOF),
        packets(b"\x02", COLUMN, COLUMN, EOF, b"\x01a", EOF),
        packets(b"\x01", b"\x03de", EOF),
        packets(b"\xff"),
    ],
)
def test_a_malformed_answer_is_a_protocol_error_and_ends_the_session(answer: bytes) -> None:
    with talking(answer) as (connection, _):
        with pytest.raises(ProtocolError):
            connection.execute("SELECT 1")
        assert connection.closed


def test_a_server_that_is_silent_for_too_long_is_a_lost_connection() -> None:
    ours, theirs = socket.socketpair()
    ours.settimeout(0.05)
    connection = Connection(Raw(), PacketStream(ours, query_attributes=True), Address(), lambda error: error)
    for sql in ("SELECT SLEEP(10)", "DROP SCHEMA s"):  # the second one, a clean-up, does not hide what happened
        with pytest.raises(ConnectionLost, match=r"no answer from the server in 0.05 s$"):
            connection.execute(sql)
    assert connection.closed
    theirs.close()


def test_a_server_that_takes_no_more_input_is_a_lost_connection() -> None:
    ours, theirs = socket.socketpair()
    ours.settimeout(0.05)
    connection = Connection(Raw(), PacketStream(ours, query_attributes=True), Address(), lambda error: error)
    with pytest.raises(ConnectionLost, match=r"no answer from the server in 0.05 s: it takes no more input$"):
        connection.execute(f"SELECT '{'x' * (1 << 24)}'")
    assert connection.closed
    theirs.close()


def test_the_fate_of_the_server_is_told_when_somebody_knows_it() -> None:
    ours, theirs = socket.socketpair()
    theirs.close()
    stream = PacketStream(ours, query_attributes=True)
    connection = Connection(Raw(), stream, Address(), lambda _: ServerDied("it died", status=-11))
    with pytest.raises(ServerDied) as caught:
        connection.execute("SELECT 1")
    assert caught.value.status == -11


def test_an_interrupted_statement_leaves_no_half_read_session(monkeypatch: pytest.MonkeyPatch) -> None:
    with talking(packets(OK)) as (connection, _):
        monkeypatch.setattr(PacketStream, "read", lambda _: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            connection.execute("SELECT 1")
        assert connection.closed


@pytest.mark.parametrize(
    ("data", "value", "end"),
    [
        (b"\x00", 0, 1),
        (b"\xfa", 250, 1),
        (b"\xfc\xfb\x00", 251, 3),
        (b"\xfd\x00\x00\x01", 65536, 4),
        (b"\xfe\x00\x00\x00\x01\x00\x00\x00\x00", 1 << 24, 9),
    ],
)
def test_length_encoded_integers(data: bytes, value: int, end: int) -> None:
    assert lenenc(data, 0) == (value, end)


@pytest.mark.parametrize("data", [b"\xfb", b"\xff"])
def test_bytes_that_begin_no_length(data: bytes) -> None:
    with pytest.raises(ProtocolError):
        lenenc(data, 0)


def test_a_row_longer_than_its_columns_is_refused() -> None:
    with pytest.raises(ProtocolError):
        parse_row(b"\x01a\x01b", 1)


def test_a_scalar_needs_exactly_one_row() -> None:
    assert Result(columns=("a",), rows=((None,),)).scalar() is None
    with pytest.raises(ProtocolError):
        Result(columns=("a",), rows=()).scalar()


@pytest.mark.planted("FR1")
def test_what_has_one_row_has_no_other() -> None:
    """A second row of the server's facts would be taken for none."""
    assert Result(columns=("a", "b"), rows=((b"1", None),)).only() == ("1", None)
    for rows in ((), ((b"1", None), (b"2", None))):
        with pytest.raises(ProtocolError, match=f"expected one row, got {len(rows)}"):
            Result(columns=("a", "b"), rows=rows).only()
