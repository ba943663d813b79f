"""Questions to a live server about the dialect table: variables, words, captured events, printed texts, pages.

Everything happens in a schema of the lab's own, which the module removes; it takes a second or so. Nothing global is
changed on a server at an address, so some questions go only to a server that the lab started; others are left out.
"""

from __future__ import annotations

import contextlib
import re
from typing import TYPE_CHECKING, Any, Final

from conformance.cases.case_sql import binlog_statement
from conformance.harness.needs.questions import STATEMENTS as EXAMPLES
from conformance.harness.needs.questions import answer, understood, variable
from conformance.judge.probes import COMPILED, FAST_AND_EXACT, STATEMENTS, TAGGED_SET, VARIABLES
from conformance.reference.binlog.event import encode_event
from conformance.reference.binlog.format_description import FormatDescription
from conformance.reference.binlog.header import MAGIC
from conformance.reference.binlog.images import Row
from conformance.reference.binlog.query import Query
from conformance.reference.binlog.rows import NO_UNIQUE_CHECKS, STMT_END, rows_body
from conformance.reference.binlog.statement_events import UserVar, UserVarType
from conformance.reference.binlog.versions import post_header_lengths
from conformance.reference.binlog.writer import FileWriter
from conformance.reference.event_types import EventType
from conformance.reference.jsonb.encode import encode
from conformance.reference.tables import columns as types
from conformance.reference.tables.columns import ColumnType
from conformance.reference.tables.metadata import UnknownField
from conformance.reference.tables.table_map import TableMap
from conformance.requirements.versions import dialect_of
from conformance.servers.errors import CaptureError, ServerUnavailable, SqlError
from conformance.servers.program_identity import own_program
from conformance.servers.run.owned import OwnServer
from conformance.servers.wire.groups import groups_of_thread

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from conformance.reference.binlog.event import Body
    from conformance.servers.base import Server
    from conformance.servers.files import Files
    from conformance.servers.programs import Program
    from conformance.servers.wire.capture import Capture
    from conformance.servers.wire.connection import Connection

_ID: Final = 4_000_000_001  # of the server that the events of BINLOG statements come from
_SECONDS: Final = 60.0
_PAGE, _TYPE_AT = 16384, 24
_ROWS: Final = {0, 17855}  # page types: not written yet, and INDEX
_ONE_FILE: Final = "TABLESPACE = innodb_file_per_table"
_UNKNOWN_FIELD: Final = UnknownField(200, bytes.fromhex("0101ff"))  # inside, an 8.0.30 reader finds SIGNEDNESS
_TEXTS: Final = {
    "parsed double": f"SELECT CAST('{FAST_AND_EXACT}' AS JSON)",
    "double": "SELECT JSON_EXTRACT(JSON_ARRAY(1e0), '$[0]')",
    "time": "SELECT JSON_EXTRACT(JSON_ARRAY(TIME'838:59:59'), '$[0]')",
    "tagged set": f"SELECT GTID_SUBSET('{TAGGED_SET}', '{TAGGED_SET}')",
}


def gather(server: Server) -> dict[str, Any]:
    """All answers of a server."""
    answers: dict[str, Any] = {"version": server.version}
    with server.connect() as connection, server.schema(connection) as schema:
        for name in VARIABLES:
            answers[f"variable {name}"] = variable(connection, name)
        for name, statement in STATEMENTS.items():
            answers[f"statement {name}"] = understood(connection, statement)
        for name, statement in _TEXTS.items():
            answers[f"text {name}"] = answer(connection, statement)
        answers.update(_compiled(connection))
        answers["warnings format"] = _warnings(connection, "SET SESSION binlog_format = 'ROW'")
        answers["warnings v1"] = _warnings(connection, "SELECT @@global.log_bin_use_v1_row_events")
        answers["plugin mysql_native_password"] = answer(
            connection,
            "SELECT PLUGIN_STATUS FROM information_schema.PLUGINS WHERE PLUGIN_NAME = 'mysql_native_password'",
        )
        symbol = answer(
            connection,
            "SELECT ERROR_NAME FROM performance_schema.events_errors_summary_global_by_error WHERE ERROR_NUMBER = 1610",
        )
        if symbol is not None:
            answers["symbol 1610"] = symbol
        if server.started_by_us:
            answers["plugin of an account"] = _account(connection, schema)
        with contextlib.suppress(CaptureError):
            capture = server.capture()
            try:
                answers.update(_events(server, connection, capture, schema))
            finally:
                capture.close()
        if isinstance(server, OwnServer):
            answers.update(_program_defaults(server))
            answers.update(_printed(server, schema))
            answers["page types"] = _page_types(server.files, connection, schema)
    return answers


# --- words and variables ---------------------------------------------------------------------------------------------


def _compiled(connection: Connection) -> dict[str, str]:
    """The compiled defaults of variables that nobody set. Servers before 8.0 do not show them."""
    names = ", ".join(f"'{name}'" for name in COMPILED)
    try:
        rows = connection.execute(
            "SELECT VARIABLE_NAME FROM performance_schema.variables_info "
            f"WHERE VARIABLE_SOURCE = 'COMPILED' AND VARIABLE_NAME IN ({names})"
        ).texts()
    except SqlError:
        return {}
    found = {str(row[0]): connection.variable(f"global.{row[0]}") for row in rows}
    if "log_bin" in found:  # a number in SELECT
        found["log_bin"] = "ON" if found["log_bin"] == "1" else "OFF"
    return {f"default {name}": value for name, value in found.items() if value is not None}


def _program_defaults(server: OwnServer) -> dict[str, str]:
    """The defaults that the server program prints, and the text of ``perror`` for an error."""
    found: dict[str, str] = {}
    text = _output(server.client_program("mysqld"), ["--no-defaults", "--verbose", "--help"])
    for line in text.partition("\nVariables (--variable-name=value)")[2].splitlines():
        name, _, value = line.partition(" ")
        name = name.replace("-", "_")
        if name in COMPILED and value.strip():
            value = value.strip()
            # Where the log is off its files have no name: the text says so in place of a value.
            found[f"default {name}"] = {"TRUE": "ON", "FALSE": "OFF"}.get(value, value)
    if "default log_bin" in found:
        found["default log_bin"] = "OFF" if found["default log_bin"].startswith("(No") else "ON"
    with contextlib.suppress(ServerUnavailable):
        match = re.search(r"\((ER_\w+)\)", _output(server.client_program("perror"), ["1610"]))
        if match is not None:
            found["symbol 1610"] = match[1]
    return found


def _output(program: Program, arguments: list[str], files: Mapping[str, bytes] | None = None) -> str:
    return program.run(arguments, files=files, timeout=_SECONDS).stdout.decode("utf-8", "replace")


def _warnings(connection: Connection, statement: str) -> list[int]:
    try:
        connection.execute(statement)
    except SqlError:
        return []
    return [number for _, number, _ in connection.warnings()]


def _account(connection: Connection, schema: str) -> str | None:
    """The authentication plugin of an account made without naming one."""
    name = f"'{schema[-12:]}'@'localhost'"
    connection.execute("SET SESSION sql_log_bin = 0")
    try:
        connection.execute(f"CREATE USER {name}")
        return answer(connection, f"SELECT plugin FROM mysql.user WHERE User = '{schema[-12:]}'")
    finally:
        connection.execute(f"DROP USER {name}")
        connection.execute("SET SESSION sql_log_bin = 1")


# --- the binary log --------------------------------------------------------------------------------------------------


def _events(server: Server, connection: Connection, capture: Capture, schema: str) -> dict[str, Any]:
    answers: dict[str, Any] = {}

    def logged(name: str, *statements: str) -> None:
        """The events that a statement writes; the statements in front of it prepare."""
        for statement in statements[:-1]:
            connection.execute(statement)
        start = capture.mark(connection)
        connection.execute(statements[-1])
        events = capture.since(start, capture.mark(connection)).events
        answers[f"events {name}"] = [event.hex() for event in groups_of_thread(events, connection.thread_id)]

    connection.execute("SET SESSION binlog_format = 'ROW'")
    start = capture.mark(connection)
    answers["description"] = capture.description(start.file).hex()
    logged(
        "insert",
        "CREATE TABLE y (id INT PRIMARY KEY, y YEAR, i INT UNSIGNED)",
        "INSERT INTO y VALUES (1, 2000, 5), (2, NULL, 6)",
    )
    with contextlib.suppress(SqlError):  # a session may not have the right
        connection.execute("SET SESSION binlog_rows_query_log_events = 1")
        logged("rows query", "INSERT INTO y VALUES (3, 2000, 7)")
        connection.execute("SET SESSION binlog_rows_query_log_events = DEFAULT")
    if server.started_by_us:
        answers["second event"] = _second_event(connection, start.file)
        answers["binlog v1"] = _give_v1(connection, schema, bytes.fromhex(answers["description"]))
        with _full_metadata(connection):
            extra = ", x INT INVISIBLE" if understood(connection, EXAMPLES["INVISIBLE"]) == 0 else ""
            vector = ", v VECTOR(2)" if understood(connection, STATEMENTS["vector"]) == 0 else ""
            logged("metadata", f"CREATE TABLE m (id INT PRIMARY KEY{extra}{vector})", "INSERT INTO m (id) VALUES (1)")
    partitioned = "CREATE TABLE p (id INT PRIMARY KEY) {} PARTITION BY HASH (id) PARTITIONS 2"
    try:
        logged("partition", partitioned.format(_ONE_FILE), "INSERT INTO p VALUES (1)")
    except SqlError:  # words that came with 5.7
        logged("partition", partitioned.format(""), "INSERT INTO p VALUES (1)")
    if connection.variable("session.binlog_row_value_options") is not None:
        with contextlib.suppress(SqlError):  # an account may make no views
            logged(
                "view",
                "CREATE TABLE d (id INT PRIMARY KEY, j JSON)",
                """INSERT INTO d VALUES (1, '{"a": 1, "pad": "0123456789012345678901234567890123456789"}')""",
                "CREATE VIEW dv AS SELECT id, j FROM d",
                "SET SESSION binlog_row_value_options = 'PARTIAL_JSON'",
                "UPDATE dv SET j = JSON_SET(j, '$.a', 2)",
            )
        connection.execute("SET SESSION binlog_row_value_options = DEFAULT")
    return answers


def _second_event(connection: Connection, file: str) -> int:
    """The type of the event behind the description of a file."""
    rows = connection.execute(f"SHOW BINLOG EVENTS IN '{file}' LIMIT 2").named()
    names = {"Previous_gtids": EventType.PREVIOUS_GTIDS}
    return int(names.get(str(rows[1]["Event_type"]), 0)) if len(rows) > 1 else 0


@contextlib.contextmanager
def _full_metadata(connection: Connection) -> Iterator[None]:
    before = connection.variable("global.binlog_row_metadata")
    if before is not None:
        connection.execute("SET GLOBAL binlog_row_metadata = 'FULL'")
    try:
        yield
    finally:
        if before is not None:
            connection.execute(f"SET GLOBAL binlog_row_metadata = '{before}'")


def _give_v1(connection: Connection, schema: str, description: bytes) -> int:
    """The error that a row event of version 1 gives, in a BINLOG statement; 0: it is applied."""
    table = TableMap(
        table_id=77, schema=schema, table="o", columns=(ColumnType(types.LONG),), nullable=(False,), metadata=()
    )
    body = rows_body(table, EventType.WRITE_ROWS_V1, [Row(None, (1,))], flags=STMT_END)
    connection.execute("CREATE TABLE o (id INT NOT NULL PRIMARY KEY)")
    try:
        connection.execute(binlog_statement(description))
        connection.execute("SET SESSION gtid_next = 'AUTOMATIC'")
        connection.execute(binlog_statement(*(encode_event(each, server_id=_ID) for each in (table, body))))
    except SqlError as error:
        return error.number
    finally:
        connection.execute("SET SESSION gtid_next = 'AUTOMATIC'")
    return 0


# --- mysqlbinlog -----------------------------------------------------------------------------------------------------


def _printed(server: OwnServer, schema: str) -> dict[str, Any]:
    """The output of the client of the server's own version for logs made here."""
    try:
        program = own_program(server, "mysqlbinlog")
    except ServerUnavailable:
        return {}
    number = TableMap(
        table_id=1, schema=schema, table="t", columns=(ColumnType(types.LONG),), nullable=(True,), metadata=()
    )
    document = TableMap(
        table_id=1, schema=schema, table="t", columns=(ColumnType(types.JSON, 4),), nullable=(True,), metadata=()
    )
    unknown = TableMap(
        table_id=1,
        schema=schema,
        table="t",
        columns=(ColumnType(types.LONG),),
        nullable=(True,),
        metadata=(_UNKNOWN_FIELD,),
    )
    flags = STMT_END | NO_UNIQUE_CHECKS
    answers: dict[str, Any] = {}
    answers["printed flags"] = _client(
        server, program, number, rows_body(number, EventType.WRITE_ROWS, [Row(None, (1,))], flags=flags)
    )
    variable = UserVar(name=b"v", kind=UserVarType.INT, collation=8, value=(5).to_bytes(8, "little"))
    answers["printed variable"] = _client(server, program, variable, Query(text=b"SET @v = @v"))
    row = Row(None, (encode({"a": 7}),))
    answers["printed json"] = '"a": 7' in _client(
        server, program, document, rows_body(document, EventType.WRITE_ROWS, [row], flags=STMT_END)
    )
    if dialect_of(server.number).log.tlv_max:
        answers["printed metadata"] = _client(server, program, unknown, options=["--print-table-metadata"])
    return answers


def _client(server: OwnServer, program: Program, *bodies: Body, options: Sequence[str] = ()) -> str:
    lengths = post_header_lengths(dialect_of(server.number).log)
    writer = FileWriter(format=FormatDescription(server_version=server.version, post_header_lengths=lengths))
    writer.position = len(MAGIC)
    data = MAGIC + writer.add(writer.format) + b"".join(map(writer.add, bodies))
    words = ["--no-defaults", *options, "--base64-output=DECODE-ROWS", "-v", "made.binlog"]
    return _output(program, words, {"made.binlog": data})


def _page_types(files: Files, connection: Connection, schema: str) -> list[int]:
    """Types of the pages of a table with a long column, and of a table that the server has made for itself."""
    create = "CREATE TABLE b (id INT PRIMARY KEY, b LONGBLOB)"
    try:
        connection.execute(f"{create} {_ONE_FILE}")
    except SqlError:  # words that came with 5.7; before, every table has a file by default
        connection.execute(create)
    connection.execute("INSERT INTO b VALUES (1, REPEAT('x', 100000))")
    connection.execute("ALTER TABLE b FORCE")  # a table that is built anew has its rows and long values in the file
    file = f"{schema}/b.ibd"
    if not files.exists(file):  # the lab's own servers can have all tables in the system tablespace
        return []
    own = "sys/sys_config.ibd"
    found = _types_in(files.read(file))
    if found > _ROWS and files.exists(own):
        return sorted(found | _types_in(files.read(own)))
    connection.execute("FLUSH TABLES b FOR EXPORT")  # all pages, but in the first second of a server it waits
    try:
        return sorted(_types_in(files.read(file)))
    finally:
        connection.execute("UNLOCK TABLES")


def _types_in(data: bytes) -> set[int]:
    return {int.from_bytes(data[place + _TYPE_AT : place + _TYPE_AT + 2]) for place in range(0, len(data), _PAGE)}
