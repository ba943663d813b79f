"""The dictionary information in data files, held against a server's INFORMATION_SCHEMA."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.console import narrate
from conformance.data_files.tablespaces import refusals
from conformance.exit_code import ExitCode
from conformance.messages import counted
from conformance.server_use import server_errors
from conformance.user_errors import Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from conformance.data_files.tablespaces import DataFile
    from conformance.reference.innodb.sdi_views.information_schema import Row

    Differences = list[tuple[str, str | None, str | None]]


def compare(files: Iterable[DataFile], address: str, write: Callable[[bytes], object]) -> int:
    """Print one line for each fact that differs, and return the exit code."""
    from conformance.servers.run.guests import GuestServer
    from conformance.servers.specs import SpecKind, parse_spec

    with server_errors():
        spec = parse_spec(address)
        if spec.kind is not SpecKind.MYSQL:
            raise Usage(
                f"{spec}: files are held against a server that has their tables", hint="expected mysql://user@host:port"
            )
        with GuestServer(spec).connect() as connection:

            def query(sql: str) -> Sequence[Row]:
                return connection.execute(sql).texts()

            connection.execute("SET SESSION information_schema_stats_expiry = 0, group_concat_max_len = 1048576")
            objects = differing = 0
            for file in files:
                for name, differences in _compared(file, query):
                    objects += 1
                    differing += bool(differences)
                    for fact, ours, theirs in differences:
                        write(f"{name}: {fact}: file {_shown(ours)}, server {_shown(theirs)}\n".encode())
    narrate(f"{counted(objects, 'object')} compared, {differing} differ")
    return int(ExitCode.NONCONFORMANT if differing else ExitCode.OK)


def _compared(file: DataFile, query: Callable[[str], Sequence[Row]]) -> Iterable[tuple[str, Differences]]:
    """(schema.table, or tablespace and its name; what differs) for each object in a file."""
    from conformance.reference.innodb.sdi import TABLE, has_sdi, sdi_objects
    from conformance.reference.innodb.sdi_views import information_schema

    if not has_sdi(file.space):
        narrate(f"{file.name}: the tablespace has no dictionary information")
        return
    with refusals(file.name):
        for item in sdi_objects(file.space):
            entry = item.object["dd_object"]
            name = str(entry.get("name"))
            if item.type == TABLE:
                schema = str(entry.get("schema_ref"))
                kind, shown = "table", f"{schema}.{name}"
                ours = information_schema.facts_of_file(entry)
                theirs = information_schema.facts_of_server(query, schema, name)
            else:
                kind, shown = "tablespace", f"tablespace {name}"
                ours = information_schema.tablespace_facts_of_file(file.space, entry)
                theirs = information_schema.tablespace_facts_of_server(query, name)
            yield shown, information_schema.drift(ours, theirs) if theirs else [(kind, "present", None)]


def _shown(value: str | None) -> str:
    return "has none" if value is None else repr(value)
