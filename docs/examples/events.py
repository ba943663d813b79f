"""Events of a binary log, and what a damaged one says."""

from collections import Counter
from pathlib import Path

from conformance import CodecError, read_events

log = Path("orders.binlog").read_bytes()
print(Counter(event.name for event in read_events(log)).most_common(2))
try:
    print(len([*read_events(log[:-30] + b"?" + log[-29:])]))
except CodecError as error:
    print(error.code, "at offset", error.offset)
