"""Rows of a log by mysql-event-stream alone, as its README feeds a CdcEngine."""

from mysql_event_stream import CdcEngine


def image(event, values):
    if event.names_resolved or values is None:
        return values
    return {f"@{int(place) + 1}": value for place, value in values.items()}  # it counts columns from 0


def rows(log):
    log = log[4:]  # "a raw binlog file opens with a 4-byte magic number that has to be skipped first"
    with CdcEngine() as engine:
        while log:
            size = int.from_bytes(log[9:13], "little")
            event, log = log[:size], log[size:]
            if len(event) < max(size, 19):
                raise ValueError("the log ends inside an event")  # of this script: the library reads no files
            if event[4] == 15:  # whether events have checksums, which its own client asks the server
                engine.set_checksum_enabled(event[-5:-4] == b"\1")
            while event and (consumed := engine.feed(event)):
                event = event[consumed:]
                for change in iter(engine.next_event, None):
                    yield change.type.name.lower(), image(change, change.before), image(change, change.after)
