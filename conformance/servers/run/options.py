"""The options that every server of the lab starts with, by version."""

from __future__ import annotations

from collections.abc import Mapping

from conformance.requirements.versions import dialect_of
from conformance.servers.errors import ServerUnavailable

Options = Mapping[str, str | None]


def default_options(number: tuple[int, int, int], *, performance_schema: bool) -> dict[str, str | None]:
    """Settings of every server of the lab; ``loose-`` options are unknown to some versions.

    Durability is off, as the data are thrown away: 100 times the statements per second. Sizes are small; packets and
    binary logs may be as large as MySQL allows. The server writes only to paths that the options name.
    """
    try:
        dialect = dialect_of(number)
    except ValueError as error:
        raise ServerUnavailable(str(error), "the lab knows MySQL from 5.6 on") from None
    options: dict[str, str | None] = {
        "bind-address": "127.0.0.1",
        "character-set-server": "utf8mb4" if dialect.server.utf8mb4_is_safe else "latin1",
        "innodb-buffer-pool-size": "64M",
        "innodb-flush-log-at-trx-commit": "0",
        # Pages go to the system's cache and nobody waits for the disk: a start from a disk takes 0.1 s less.
        "innodb-flush-method": "nosync",
        "innodb-log-buffer-size": "8M",  # the server writes zeros over all of it at its start: 64 MB are its default
        # Kernels allow so many native requests in all (fs.aio-max-nr): two dozen servers use them up.
        "innodb-use-native-aio": "OFF",
        "log-bin": "binlog",
        "loose-binlog-expire-logs-seconds": "0",
        "loose-innodb-buffer-pool-dump-at-shutdown": "OFF",
        "loose-innodb-buffer-pool-load-at-startup": "OFF",
        "loose-innodb-redo-log-capacity": "64M",
        "loose-log-error-verbosity": "3",
        "loose-mysqlx": "OFF",
        # root has no password: without name resolution 127.0.0.1 is not localhost, so root comes in by the socket only,
        # which stands in a directory of this user alone. TCP needs the account of ``tcp_address``.
        "skip-name-resolve": "ON",
        "max-allowed-packet": "1G",
        "max-binlog-size": "1G",
        "performance-schema": "ON" if performance_schema else "OFF",
        "sync-binlog": "0",
    }
    if not dialect.server.log_bin:
        options["binlog-format"] = "ROW"  # the default only since 5.7.7, and deprecated as an option later
    if dialect.server.secure_file_priv_empty:  # before: empty already means anywhere, and a directory is required
        options["secure-file-priv"] = ""
    options[dialect.terms.named("skip-replica-start")] = None
    return options


def option_words(options: Options) -> list[str]:
    """``{"sync_binlog": "0", "skip-x": None}`` as command words."""
    return [
        f"--{name.replace('_', '-')}" if value is None else f"--{name.replace('_', '-')}={value}"
        for name, value in options.items()
    ]
