"""The words in which subjects declare what they do. A feature of logs cannot be declared away: it is read or refused.

A capability changes how an answer is judged, or which Cases apply.
"""

from __future__ import annotations

from typing import Final

from conformance.cases.decoder_case import DECODE, ROWS, SDI

ROLES: Final = {
    DECODE: "gives the row changes of a binary log",
    "decode_json": "gives the document of a JSONB value",
    "apply": "applies diffs to a document",
    "print": "prints a binary log as mysqlbinlog does",
    ROWS: "gives the rows of an InnoDB data file",
    SDI: "gives the dictionary information (SDI) of an InnoDB data file",
}

FILE: Final = "file"
SERVER: Final = "server"
POSITION: Final = "position"
STOP: Final = "stop"
GTID: Final = "gtid"
COMMITTED: Final = "committed"
TYPES: Final = "types"
NUMBERS: Final = "member-numbers"

CAPABILITIES: Final = {
    FILE: "reads a log file as it is: also open, cut, damaged, and larger than 4 GiB",
    SERVER: "connects to a source, which must have the Case's tables",
    POSITION: "starts at any position of a source's log; else it reads on from the present end",
    STOP: "stops where it is asked to, and goes on from what it stored itself",
    GTID: "starts from a set of GTIDs, and stores one",
    COMMITTED: "gives changes of committed transactions only",
    TYPES: "gives the MySQL type of JSON leaves",
    NUMBERS: "gives ENUM and SET as numbers by design; else a name that the log has is due",
}
