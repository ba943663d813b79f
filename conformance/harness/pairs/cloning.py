"""A replica cloned by mysqldump: emptied, loaded from the dump of the source, and linked again (requirements FR4).

The dump holds text: documents come back without free space, with strings for dates and doubles for decimals.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from conformance.harness.pairs.rebuilding import Rebuild, Rebuilt
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.parse import parse_text
from conformance.reference.jsonb.text import format_text
from conformance.servers.errors import ServerError
from conformance.servers.run.owned import OwnServer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from conformance.cases.update_case import UpdateCase
    from conformance.reference.dialect import JsonForms
    from conformance.servers.base import Server
    from conformance.servers.roles.pair import Pair
    from conformance.servers.wire.connection import Connection

_SECONDS: Final = 120.0


def dumpable(case: UpdateCase) -> UpdateCase:
    """The Case without columns that a dump changes: the text of a FLOAT has six digits."""
    columns = tuple(
        replace(column, type="DOUBLE") if column.type == "FLOAT" else column for column in case.table.columns
    )
    return replace(case, table=replace(case.table, columns=columns))


def clone(pair: Pair, replica: Connection, schema: str, after: int) -> Rebuild:
    """Clone the source's schema after ``after`` steps."""

    def make(case: UpdateCase, rows: Sequence[Mapping[str, object]]) -> Rebuilt:
        dump = _client(
            pair.source, "mysqldump", "--single-transaction", "--set-gtid-purged=ON", "--hex-blob", "--databases",
            schema,
        )  # fmt: skip
        pair.unlink()
        replica.execute("SET SESSION sql_log_bin = 0")
        replica.execute(f"DROP SCHEMA {schema}")
        replica.execute(pair.dialect.terms.reset)
        _client(pair.replica, "mysql", "--default-character-set=utf8mb4", given=dump)
        pair.link()
        json = [case.table.columns[index].name for index in case.table.json_columns]
        documents = [{name: _loaded(row[name], pair.dialect.json) for name in json} for row in rows]
        return Rebuilt([f"USE {schema}"], documents)

    return Rebuild(after, make)


def _loaded(value: object, forms: JsonForms) -> bytes | None:
    """The document that loading the dump leaves."""
    return encode(parse_text(format_text(decode(value)), forms)) if isinstance(value, bytes) else None


def _client(server: Server, program: str, *options: str, given: bytes = b"") -> bytes:
    """Run a program of the server's installation as root; its output."""
    assert isinstance(server, OwnServer)
    done = server.run_program(program, options, login=True, stdin=given, timeout=_SECONDS)
    if done.returncode is None:
        raise ServerError(f"{program} does not end within {_SECONDS} s")
    if done.returncode:
        raise ServerError(f"{program} ended with {done.returncode}: {done.words}")
    return done.stdout
