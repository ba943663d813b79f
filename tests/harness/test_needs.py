"""The needs of the checks: one list, asked of the server, with the words for what is missing."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from conformance.cases.sql_case import Outcome, SqlCase, SqlStatement
from conformance.harness.check import Check
from conformance.harness.experiments.manifests import all_facts
from conformance.harness.needs.listed import NEEDS, lacking, needs_of
from conformance.harness.needs.questions import KINDS, STATEMENTS, Questions
from conformance.harness.session import Lab
from conformance.harness.settings import Settings
from conformance.harness.sql_cases import run_cases
from conformance.servers.errors import ServerUnavailable, SqlError
from conformance.stream import CaseVerdict
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.servers.run.process import ProcessServer
    from conformance.stream import AnyRecord


class _Answer:
    def __init__(self, *rows: tuple[str | None, ...]) -> None:
        self._rows = list(rows)

    def scalar(self) -> str | None:
        return self._rows[0][0] if self._rows else None

    def texts(self) -> list[tuple[str | None, ...]]:
        return self._rows


class _Bare:
    """A server that lacks whatever it is asked for: unknown variables and words, no rows, no programs."""

    id = provenance = "bare"
    version, number, started_by_us = "8.0.45", (8, 0, 45), True
    server_version = version

    def __init__(self) -> None:
        self.asked: list[str] = []

    @contextmanager
    def connect(self) -> Iterator[_Bare]:
        yield self

    def variable(self, name: str) -> str | None:
        self.asked.append(name)
        return None

    def execute(self, statement: str) -> _Answer:
        self.asked.append(statement)
        if statement.startswith("PREPARE"):
            raise SqlError(1064, "42000", "You have an error in your SQL syntax", statement=statement, position=0)
        if "ST_SPATIAL" in statement:
            raise SqlError(1109, "42S02", "Unknown table", statement=statement, position=0)
        return _Answer()

    def client_program(self, name: str) -> Any:
        raise ServerUnavailable(f"there is no {name}")


def _every_need() -> set[str]:
    return {need for facts in all_facts() for need in facts.needs}


def test_each_need_of_the_list_has_a_question() -> None:
    for need in _every_need():
        kind, _, name = need.partition(" ")
        assert kind in KINDS, need
        assert kind != "statement" or name in STATEMENTS, need


def test_needs_of_a_check_are_those_of_its_room_and_its_own() -> None:
    assert needs_of("mysqlbinlog_replay/rows") == ("program mysqlbinlog", "program mysql")
    assert needs_of("replicas/cloned") == ("program mysqldump", "program mysql")
    assert needs_of("table_metadata/other-tables[TMR1]") == ("variable binlog_row_metadata",)
    assert needs_of("updates/event-bytes") == ()


@pytest.mark.parametrize(
    ("need", "words"),
    [
        ("variable binlog_row_metadata", "the system variable binlog_row_metadata"),
        ("statement VECTOR", "VECTOR in a statement"),
        ("status Innodb_redo_log_current_lsn", "the status variable Innodb_redo_log_current_lsn"),
        ("srs 4326", "the spatial reference system 4326"),
        ("tagged-gtids", "GTIDs with tags"),
        ("right TRIGGER", r"the right TRIGGER: GRANT TRIGGER ON `binlog\_lab\_%`.* TO ''@''"),
        ("creator", "log_bin_trust_function_creators, or the right SUPER: GRANT SUPER ON *.* TO ''@''"),
        ("setting binlog_checksum=CRC32", "the setting binlog_checksum=CRC32, which is None"),
        ("program ibd2sdi", "the server's own ibd2sdi: there is no ibd2sdi"),
    ],
)
def test_a_server_that_lacks_something_is_told_what(need: str, words: str) -> None:
    bare: Any = _Bare()
    assert lacking(Questions(bare), [need]) == NEEDS + words


def test_everything_that_is_missing_is_named_once() -> None:
    bare: Any = _Bare()
    needs = ("srs 4326", "2S", "program mysql", "srs 4326")
    assert lacking(Questions(bare), needs) == (
        "needs the spatial reference system 4326; the server's own mysql: there is no mysql"
    )


def test_a_question_is_put_once() -> None:
    bare: Any = _Bare()
    questions = Questions(bare)
    for _ in range(3):
        assert not questions.has("srs 4326")
    assert len(bare.asked) == 1


def test_a_need_of_another_kind_is_an_error_of_the_list() -> None:
    bare: Any = _Bare()
    with pytest.raises(KeyError):
        Questions(bare).lacking("weather sunny")


def test_a_case_whose_need_is_not_met_is_not_run_and_says_so() -> None:
    records: list[AnyRecord] = []
    lab = Lab(Settings(), records.append)
    bare: Any = _Bare()
    lab._server, lab._resolved, lab._questions = bare, True, Questions(bare)
    asked = SqlStatement(sql="SELECT 1", judges="S1", outcomes=(Outcome(),))
    case = SqlCase(id="c", requirements=("S1",), needs=("2S", "srs 4326"), statements=(asked,))
    run_cases(Check(lab, "c", ["S1"]), [case], {"source": bare})
    (verdict,) = (record for record in records if isinstance(record, CaseVerdict))
    assert (verdict.verdict, verdict.requirement) == (Verdict.NOT_APPLICABLE, "S1")
    assert verdict.message == "needs the spatial reference system 4326"


@pytest.mark.live
def test_a_server_of_today_lacks_nothing(server: ProcessServer) -> None:
    questions = Questions(server)
    statements = {f"statement {name}" for name in STATEMENTS}
    for need in sorted(_every_need() | statements | {"srs 4326", "srs 3857", "tagged-gtids"}):
        assert questions.lacking(need) == "", need
