"""At most six lines of a decoder's own API that read one log: its vendor sees a finding with them, without the lab."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from conformance.reference.binlog.header import FOOTER_SIZE, MAGIC

if TYPE_CHECKING:
    from conformance.subjects.specs import SubjectSpec

MOST: Final = 6
_CRC32: Final = 1


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines of a ``language`` that read ``{file}``. ``needs``: how to get the program; ``note``: what else to know."""

    language: str
    code: str
    needs: str = ""
    note: str = ""

    def of(self, log: bytes, file: str) -> Lines:
        """The lines for a log. Whether its events have checksums is what a client asks the server."""
        code = self.code.replace("{file}", file).replace("{checksum}", str(has_checksums(log)))
        return Lines(self.language, code, self.needs, self.note)


MYSQL_REPLICATION: Final = Lines(
    "python",
    """\
import pymysql.protocol, pymysqlreplication.packet as lib
log, tables, server = open("{file}", "rb").read()[4:], {}, type("", (), {"charset": "utf8mb4", "_get_dbms": lambda: ""})
while log and (size := int.from_bytes(log[9:13], "little")):
    packet, log = pymysql.protocol.MysqlPacket(b"\\0" + log[:size], "utf8"), log[size:]
    event = lib.BinLogPacketWrapper(packet, tables, server, (9, 7), {checksum}, vars(lib.row_event).values(), *[None] * 7, True, None).event
    event and (tables.update({event.table_id: event.get_table()}) if hasattr(event, "get_table") else print(event.rows))
""",  # noqa: E501 - six lines are what a vendor reads
    "pip install mysql-replication",
)
_EVENT_STREAM: Final = Lines(
    "python",
    """\
from mysql_event_stream import CdcEngine
engine, data = CdcEngine(), open("{file}", "rb").read()[4:]
engine.set_checksum_enabled({checksum})
while data and (read := engine.feed(data)):
    data = data[read:]
    for change in iter(engine.next_event, None): print(change)
""",
    "pip install mysql-event-stream",
)
_DEBEZIUM: Final = Lines(
    "java",
    """\
class Show { public static void main(String[] words) throws Exception {
    var reader = new com.github.shyiko.mysql.binlog.BinaryLogFileReader(new java.io.File("{file}"));
    for (Object event; (event = reader.readEvent()) != null; ) System.out.println(event);
} }
""",
    "the jars of com.zendesk or io.debezium mysql-binlog-connector-java; java -cp '*' Show.java",
)
_PRINTER: Final = "{program} -vv --base64-output=DECODE-ROWS --print-table-metadata {file}\n"
_BUILTIN: Final = {
    "python-mysql-replication": MYSQL_REPLICATION,
    "mysql-event-stream": _EVENT_STREAM,
    "debezium-binlog-client": _DEBEZIUM,
    "mysqlbinlog": Lines("sh", _PRINTER.replace("{program}", "mysqlbinlog")),
    "mariadb-binlog": Lines("sh", _PRINTER.replace("{program}", "mariadb-binlog")),
}
_SERVED: Final = Lines(
    "sh",
    "binlog-lab serve {file} --port 13306\n",
    note="The program reads from a server. Any source with this log shows it; this command plays one.",
)


def has_checksums(log: bytes) -> bool:
    """Whether the events of a log have checksums: what its first event says."""
    end = len(MAGIC) + int.from_bytes(log[len(MAGIC) + 9 : len(MAGIC) + 13], "little")
    return log[end - FOOTER_SIZE - 1 : end - FOOTER_SIZE] == bytes((_CRC32,))


def lines_of(spec: SubjectSpec) -> Lines:
    """The lines for a subject."""
    if spec.kind == "py":
        module, _, name = spec.target.partition(":")
        return Lines("python", f'from {module} import {name}\nfor change in {name}("{{file}}"):\n    print(change)\n')
    if spec.kind == "cmd":
        return Lines("sh", f"{spec.target}\n")
    if spec.kind == "jsonl":
        requests = '{"id": 1, "method": "hello"}\\n{"id": 2, "method": "decode", "path": "{file}"}\\n'
        return Lines("sh", f"printf '{requests}' |\n  {spec.target}\n")
    return _BUILTIN.get(spec.target, _SERVED)
