"""Real servers under settings of their owner, and by accounts with fewer rights."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from conformance.cases.sql_case import Outcome, SqlCase, SqlStatement
from conformance.harness.check import Check
from conformance.harness.needs.questions import Questions
from conformance.harness.session import Lab
from conformance.harness.settings import Settings
from conformance.harness.sql_cases import run_cases
from conformance.servers.auto import resolve
from conformance.servers.errors import NotJudgeable, SqlError
from conformance.servers.run.attached import AttachedServer, Attachment
from conformance.servers.settings import sessions
from conformance.servers.settings.listed import SESSION, of
from conformance.stream import CaseVerdict
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from conformance.servers.base import Server
    from conformance.servers.run.process import ProcessServer
    from conformance.stream import AnyRecord

pytestmark = pytest.mark.live
_TRIED = {setting.name: setting.tried[0] for setting in of(SESSION) if setting.tried}
_ALL_BUT_SESSIONS = (r"ALL ON `binlog\_lab\_%`.*", "REPLICATION SLAVE, REPLICATION CLIENT ON *.*")
_LEAST = (
    r"SELECT, INSERT, UPDATE, DELETE, CREATE, DROP ON `binlog\_lab\_%`.*",
    "REPLICATION SLAVE, REPLICATION CLIENT, SESSION_VARIABLES_ADMIN ON *.*",
)


@contextmanager
def globally(server: ProcessServer, values: Mapping[str, str]) -> Iterator[Server]:
    """The server with these global values, as somebody sees it who comes now."""
    with server.connect() as root:
        before = {name: root.variable(f"global.{name}") or "" for name in values}
        try:
            for name, value in values.items():
                root.execute(f"SET GLOBAL {name} = {value if value.isdigit() else repr(value)}")
            yield AttachedServer(Attachment.of(server))
        finally:
            for name, value in before.items():
                root.execute(f"SET GLOBAL {name} = {value if value.isdigit() else repr(value)}")


@contextmanager
def guest(server: ProcessServer, *grants: str) -> Iterator[Server]:
    """The server at an address, by an account with these rights."""
    account = "'limited'@'127.0.0.1'"
    with server.connect() as root:
        root.execute(f"CREATE USER {account} IDENTIFIED BY 'p'")
        try:
            for grant in grants:
                root.execute(f"GRANT {grant} TO {account}")
            found = resolve(f"mysql://limited:p@127.0.0.1:{server.address.port}")
            assert found is not None
            yield found
        finally:
            root.execute(f"DROP USER {account}")


def test_no_value_of_the_owner_reaches_a_session_of_the_lab(
    server: ProcessServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with globally(server, _TRIED) as found:
        with found.connect() as session:
            assert sessions.differing(session) == {}
        with found.connect(inherits=frozenset({"binlog_format", "completion_type"})) as session:
            assert set(sessions.differing(session)) == {"binlog_format", "completion_type"}
        # Planted: without the list a session has every value of the owner.
        monkeypatch.setattr(sessions.Beginning, "put", lambda *_: None)
        with found.connect() as session:
            # The connector sets autocommit, and the question lifts the limits of queries.
            assert set(_TRIED) - set(sessions.differing(session)) == {"autocommit", "sql_big_selects"}


@pytest.mark.planted
@pytest.mark.parametrize("fault", [*_TRIED])
def test_a_server_of_the_lab_s_own_can_have_each(server: ProcessServer, fault: str) -> None:
    with globally(server, {fault: _TRIED[fault]}) as found:
        found.require_fit()
        with found.connect() as session:
            assert fault not in sessions.differing(session)


@pytest.mark.parametrize(
    ("grants", "words"),
    [
        (_ALL_BUT_SESSIONS, "GRANT SESSION_VARIABLES_ADMIN ON *.* TO 'limited'@'127.0.0.1'"),
        (_LEAST[:1], "GRANT REPLICATION SLAVE, REPLICATION CLIENT, SESSION_VARIABLES_ADMIN ON *.*"),
        (_LEAST[1:], r"GRANT CREATE, DROP, INSERT, UPDATE, DELETE, SELECT ON `binlog\_lab\_%`.* TO"),
    ],
)
def test_a_guest_without_the_rights_of_every_check_is_refused(
    server: ProcessServer, grants: tuple[str, ...], words: str
) -> None:
    with guest(server, *grants) as found, pytest.raises(NotJudgeable) as caught:
        found.require_fit()
    assert words in str(caught.value)
    assert caught.value.exit_code == 3


def test_the_grants_that_are_named_are_enough(server: ProcessServer) -> None:
    with guest(server, *_LEAST) as found:
        found.require_fit()


_STATEMENTS = {
    "ALTER": "ALTER TABLE t ADD COLUMN k INT",
    "CREATE VIEW": "CREATE VIEW v AS SELECT i FROM t",
    "INDEX": "CREATE INDEX i ON t (i)",
    "TRIGGER": "CREATE TRIGGER r BEFORE UPDATE ON t FOR EACH ROW SET NEW.i = 1",
    "CREATE ROUTINE": "CREATE PROCEDURE p() SELECT 1",
    "LOCK TABLES": "LOCK TABLES t READ",
    "REFERENCES": "CREATE TABLE u (i INT PRIMARY KEY, FOREIGN KEY (i) REFERENCES t (i))",
    "CREATE TEMPORARY TABLES": "CREATE TEMPORARY TABLE u (i INT)",
}


@pytest.mark.sampled(2)
@pytest.mark.planted
@pytest.mark.parametrize("fault", _STATEMENTS)
def test_a_case_that_the_account_may_not_run_is_not_applicable(server: ProcessServer, fault: str) -> None:
    """Planted: the same Case is red where nobody asks for the right."""
    statements = (
        SqlStatement(sql="CREATE TABLE t (i INT PRIMARY KEY)", judges="S1", outcomes=(Outcome(),)),
        SqlStatement(sql=_STATEMENTS[fault], judges="S1", outcomes=(Outcome(),)),
    )
    case = SqlCase(id="c", requirements=("S1",), schema=True, statements=statements)
    with guest(server, *_LEAST) as found:
        asked = verdicts(found, case)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("conformance.harness.sql_cases.rights_of", lambda _: ())
            blind = verdicts(found, case)
    assert [record.verdict for record in asked] == [Verdict.NOT_APPLICABLE]
    assert asked[0].message.startswith("needs ")
    assert f"the right {fault}: GRANT {fault} ON `binlog\\_lab\\_%`.* TO 'limited'@'127.0.0.1'" in asked[0].message
    assert [record.verdict for record in blind] == [Verdict.FAIL]
    assert any(word in (blind[0].got or "") for word in ("denied", "1419"))


def verdicts(server: Server, case: SqlCase) -> list[CaseVerdict]:
    """The records of one Case on a guest."""
    records: list[AnyRecord] = []
    lab = Lab(Settings(), records.append)
    lab._server, lab._resolved, lab._questions = server, True, Questions(server)
    run_cases(Check(lab, "c", ["S1"]), [case], {"source": server})
    return [record for record in records if isinstance(record, CaseVerdict)]


def test_a_client_program_begins_as_a_session_of_the_lab(server: ProcessServer) -> None:
    words = server.client("mysql")
    with globally(server, {"transaction_read_only": "ON"}):
        server._beginning = None
        try:
            with server.connect():
                found = server.client("mysql")
        finally:
            server._beginning = None
    assert found == [*words, "--init-command=SET SESSION transaction_read_only = 'OFF'"]


def test_a_dump_is_made_where_the_server_limits_its_queries(server: ProcessServer) -> None:
    with globally(server, {"max_join_size": "1"}):
        server._beginning = None
        plain = server.run_program("mysqldump", ["--no-data", "mysql"], login=True)
        try:
            with server.connect():
                opened = server.run_program("mysqldump", ["--no-data", "mysql"], login=True)
        finally:
            server._beginning = None
    assert plain.returncode == 2  # planted: the dump of a session like any other
    assert "1104" in plain.words
    assert opened.returncode == 0, opened.words


def test_limits_of_queries_do_not_keep_the_lab_from_asking(server: ProcessServer) -> None:
    limits = {"max_join_size": "1", "sql_select_limit": "1", "max_execution_time": "1"}
    with globally(server, limits) as found, found.connect() as session:
        assert sessions.differing(session) == {}
        with pytest.raises(SqlError):  # planted: under the first limit the question itself is refused
            session.execute_many(["SET SESSION max_join_size = 1", "SHOW SESSION VARIABLES LIKE 'autocommit'"]).check()
