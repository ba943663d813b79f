"""Rows of a log by python-mysql-replication alone: its BinLogStreamReader gets each event as a server would send it."""

from pymysql.protocol import MysqlPacket
from pymysqlreplication import BinLogStreamReader


class Log:
    """A log in the place of the reader's connections, because the library has no file reader."""

    charset = "utf8mb4"

    def __init__(self, log, reader):
        self.log, self.reader = log[4:], reader

    def _read_packet(self):
        if not self.log:
            return MysqlPacket(b"\xfe\0\0\0\0", "utf8")
        size = int.from_bytes(self.log[9:13], "little")
        event, self.log = self.log[:size], self.log[size:]
        if len(event) < max(size, 19):
            raise ValueError("the log ends inside an event")  # of this script: a server sends whole events
        if event[4] == 15:  # whether events have checksums, which it would ask the server
            self.reader._BinLogStreamReader__use_checksum = event[-5:-4] == b"\1"
        return MysqlPacket(b"\0" + event, "utf8")

    def _get_dbms(self):
        return "mysql"

    def close(self):
        pass


def rows(log):
    reader = BinLogStreamReader(connection_settings={}, server_id=1, enable_logging=False)
    reader._stream_connection = reader._ctl_connection = Log(log, reader)
    for state in ("connected_stream", "connected_ctl", "optional_meta_data"):
        setattr(reader, f"_BinLogStreamReader__{state}", True)
    for event in reader:
        if isinstance(event, RowsEvent):
            yield from rows_of(event)
