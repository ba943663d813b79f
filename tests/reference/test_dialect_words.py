"""Words that versions use (versions 1, versions 11), and behaviours turned round."""

from __future__ import annotations

import pytest

from conformance.reference.dialect import MYSQL, WORKLOG, ServerTerms, flipped

OLD = ServerTerms(
    corrupt_event_symbol="ER_SLAVE_CORRUPT_EVENT",
    change_source="MASTER",
    replica="SLAVE",
    log_status="MASTER STATUS",
    reset_logs="MASTER",
    replica_variables="slave_",
)


@pytest.mark.parametrize(
    ("today", "before"),
    [
        ("replica_parallel_workers", "slave_parallel_workers"),
        ("skip-replica-start", "skip-slave-start"),
        ("log_replica_updates", "log_slave_updates"),
        ("source_verify_checksum", "master_verify_checksum"),
        ("sync_source_info, replica_net_timeout", "sync_master_info, slave_net_timeout"),
        ("binlog_format", "binlog_format"),
    ],
)
def test_variables_have_the_names_of_their_version(today: str, before: str) -> None:
    assert ServerTerms().named(today) == today
    assert OLD.named(today) == before


@pytest.mark.parametrize(
    ("before", "today"),
    [
        ("Slave_IO_Running", "Replica_IO_Running"),
        ("Seconds_Behind_Master", "Seconds_Behind_Source"),
        ("Master_Log_File", "Source_Log_File"),
        ("Slave_SQL_Running_State of Master", "Replica_SQL_Running_State of Source"),
        ("Replica_IO_State", "Replica_IO_State"),
        ("slave and master", "slave and master"),
    ],
)
def test_columns_of_the_status_have_the_names_of_today(before: str, today: str) -> None:
    assert ServerTerms.today(before) == today


def test_statements_have_the_words_of_their_version() -> None:
    assert [words.change for words in (ServerTerms(), OLD)] == ["CHANGE REPLICATION SOURCE TO", "CHANGE MASTER TO"]
    assert [words.replica_status for words in (ServerTerms(), OLD)] == ["SHOW REPLICA STATUS", "SHOW SLAVE STATUS"]
    assert [words.show_log for words in (ServerTerms(), OLD)] == ["SHOW BINARY LOG STATUS", "SHOW MASTER STATUS"]
    assert [words.reset for words in (ServerTerms(), OLD)] == ["RESET BINARY LOGS AND GTIDS", "RESET MASTER"]


def test_a_flipped_dialect_differs_in_the_behaviours_that_are_named() -> None:
    assert flipped(MYSQL) == MYSQL
    found = flipped(MYSQL, "partial_remove", "nests_without_limit")
    assert found.behaviour.partial_remove is found.behaviour.nests_without_limit is False
    assert flipped(found, "nests_without_limit", "partial_remove") == MYSQL
    for other in ("name", "reader", "numbering", "log", "json", "terms", "server"):
        assert getattr(found, other) == getattr(MYSQL, other)
    assert flipped(WORKLOG, "partial_remove").behaviour.partial_remove is True
    assert found.behaviour.copies_full_values is MYSQL.behaviour.copies_full_values
