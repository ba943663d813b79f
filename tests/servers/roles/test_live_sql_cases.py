"""Running sql Cases on a real server: answers, and everything put back behind them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.cases.sql_case import Outcome, SqlCase, SqlStatement
from conformance.reference.binlog.header import HEADER_SIZE, decode_header
from conformance.reference.event_types import EventType
from conformance.servers.errors import ServerUnavailable
from conformance.servers.roles.sql_cases import run_sql
from conformance.servers.run.attached import AttachedServer, Attachment
from conformance.servers.run.process import launch
from conformance.servers.wire.capture import Capture

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.cases.sql_case import SqlAnswer
    from conformance.servers.install.installation import Installation
    from conformance.servers.run.process import ProcessServer
    from conformance.servers.wire.capture import Captured, Position

pytestmark = pytest.mark.live
OPTION = "binlog_row_value_options"


@pytest.fixture
def stopped(installation: Installation) -> Iterator[ProcessServer]:
    """A server that has not been started yet."""
    with launch(installation, server_id=91, start=False) as made:
        yield made


def run(server: ProcessServer, *statements: str | SqlStatement, **case: object) -> tuple[SqlAnswer, ...]:
    items = tuple(SqlStatement(sql=item) if isinstance(item, str) else item for item in statements)
    return run_sql({"source": server}, SqlCase(id="x", requirements=("S1",), statements=items, **case))  # type: ignore[arg-type]


def scalar(server: ProcessServer, sql: str) -> str | None:
    with server.connect() as connection:
        return connection.execute(sql).scalar()


def test_answers_hold_rows_errors_and_warnings(server: ProcessServer) -> None:
    rows, refused, warned = run(
        server, "SELECT 1, NULL", "SELECT * FROM mysql.nonsense", "SELECT 1/0, CAST('x' AS SIGNED)"
    )
    assert rows.rows == (("1", None),)
    assert (refused.error, "nonsense" in refused.message) == (1146, True)
    assert [number for number, _ in warned.warnings] == [1365, 1292]
    assert warned.error is None


class _LogWithoutHead(Capture):
    """Before it is read, its event of rows takes two bytes of the next one, as 8.0.45 writes it."""

    def since(self, start: Position, end: Position | None = None) -> Captured:
        until = end or self.mark()
        with self._log_path(start.file).open("r+b") as file:
            place = start.offset
            while True:
                file.seek(place)
                head = decode_header(file.read(HEADER_SIZE))
                if head.type == EventType.UPDATE_ROWS:
                    break
                place = head.log_pos
            longer = head._replace(length=head.length + 2, log_pos=head.log_pos + 2)
            file.seek(place)
            file.write(longer.encode())
        return super().since(start, until)


@pytest.mark.parametrize("over_protocol", [True, False])
def test_a_log_that_its_server_cannot_read_is_no_end(
    stopped: ProcessServer, monkeypatch: pytest.MonkeyPatch, *, over_protocol: bool
) -> None:
    stopped.start()
    monkeypatch.setattr(stopped, "capture", lambda: _LogWithoutHead(stopped, over_protocol=over_protocol))
    update = SqlStatement(sql="UPDATE t SET n = 2", judges="D4", outcomes=(Outcome(form="full"),))
    answers = run(stopped, "CREATE TABLE t (n INT)", "INSERT INTO t VALUES (1)", update, schema=True)
    assert (answers[2].error, answers[2].bogus_log) == (None, over_protocol)
    assert bool(answers[2].events) is not over_protocol


def test_sessions_open_when_first_used_and_share_the_schema(server: ProcessServer) -> None:
    answers = run(
        server,
        "CREATE TABLE t (id INT)",
        f"SET GLOBAL {OPTION}='PARTIAL_JSON'",
        f"SELECT @@SESSION.{OPTION}",
        SqlStatement(sql=f"SELECT @@SESSION.{OPTION}, (SELECT COUNT(*) FROM t), DATABASE()", session="late"),
        schema=True,
        globals=(OPTION,),
    )
    assert answers[2].rows == (("",),)
    late = answers[3].rows[0]
    assert late[:2] == ("PARTIAL_JSON", "0")
    assert scalar(server, f"SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name = '{late[2]}'") == "0"


def test_global_values_persisted_values_and_accounts_are_put_back(server: ProcessServer) -> None:
    (*_, answer) = run(
        server,
        "CREATE USER somebody@localhost",
        "SET PERSIST binlog_row_image='NOBLOB'",
        f"SET GLOBAL {OPTION}=1",
        SqlStatement(sql="SELECT CURRENT_USER()", session="other"),
        globals=(OPTION, "binlog_row_image"),
        accounts=(("other", "somebody"),),
    )
    assert answer.rows == (("somebody@localhost",),)
    assert scalar(server, f"SELECT CONCAT(@@GLOBAL.binlog_row_image, @@GLOBAL.{OPTION})") == "FULL"
    assert scalar(server, "SELECT COUNT(*) FROM mysql.user WHERE user = 'somebody'") == "0"
    assert scalar(server, "SELECT COUNT(*) FROM performance_schema.persisted_variables") == "0"


def test_all_is_put_back_after_an_error_of_the_lab_too(server: ProcessServer) -> None:
    with pytest.raises(ServerUnavailable, match="replica"):
        run(server, f"SET GLOBAL {OPTION}=1", SqlStatement(sql="DO 0", node="replica"), globals=(OPTION,))
    assert scalar(server, f"SELECT @@GLOBAL.{OPTION}") == ""


def test_events_are_captured_where_a_form_is_asked_for(server: ProcessServer) -> None:
    created, inserted, updated = run(
        server,
        "CREATE TABLE t (id INT PRIMARY KEY, j JSON)",
        "INSERT INTO t VALUES (1, '{}')",
        SqlStatement(sql="UPDATE t SET j='[]'", outcomes=(Outcome(form="full"),)),
        schema=True,
    )
    assert created.events == inserted.events == ()
    assert 31 in [event[4] for event in updated.events]


def test_a_start_tells_its_warnings_or_the_error_that_ended_it(stopped: ProcessServer) -> None:
    option = OPTION.replace("_", "-")
    bad, good, read = run(
        stopped,
        SqlStatement(start=((option, "BAD"),)),
        SqlStatement(start=((option, "1"), ("binlog-row-image", "FULL"))),
        f"SELECT @@GLOBAL.{OPTION}",
    )
    assert (bad.error, OPTION in bad.message) == (77, True)
    assert good.error is None
    assert 13103 in [number for number, _ in good.warnings]
    assert 13103 not in [number for number, _ in bad.warnings]
    assert read.rows == (("PARTIAL_JSON",),)
    assert not stopped.alive()


def test_persisted_values_are_read_by_the_next_start_and_gone_behind_the_case(stopped: ProcessServer) -> None:
    stopped.start()
    *_, read = run(
        stopped,
        SqlStatement(start=()),
        f"SET PERSIST {OPTION}='PARTIAL_JSON'",
        SqlStatement(start=()),
        f"SELECT @@GLOBAL.{OPTION}",
    )
    assert read.rows == (("PARTIAL_JSON",),)
    assert stopped.alive()  # as it was
    assert scalar(stopped, f"SELECT @@GLOBAL.{OPTION}") == ""
    assert not (stopped.data_directory / "mysqld-auto.cnf").exists()


def test_a_server_that_is_not_the_labs_is_not_restarted(server: ProcessServer) -> None:
    attached = AttachedServer(Attachment.of(server))
    case = SqlCase(id="x", requirements=("S6",), statements=(SqlStatement(start=()),))
    with pytest.raises(ServerUnavailable, match="not the lab's to restart"):
        run_sql({"source": attached}, case)
    assert server.alive()
