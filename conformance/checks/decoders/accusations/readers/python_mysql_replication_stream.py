"""Rows by python-mysql-replication alone: a BinLogStreamReader connects, with the settings of its README."""

from pymysqlreplication import BinLogStreamReader


def rows(log):
    settings = {"host": SERVER["host"], "port": SERVER["port"], "user": SERVER["user"], "passwd": SERVER["password"]}
    reader = BinLogStreamReader(
        connection_settings={**settings, "charset": "utf8mb4"},
        server_id=100,
        log_file=SERVER["file"],
        log_pos=SERVER["position"],
        resume_stream=True,
        enable_logging=False,
    )
    for event in reader:
        if isinstance(event, RowsEvent):
            if event.schema == SERVER["schema"]:  # a row of another table, behind the log
                return
            yield from rows_of(event)
    raise EOFError("the stream ends before the row behind the log")
