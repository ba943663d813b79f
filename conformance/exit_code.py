"""Exit codes of runs, apart from the result stream: file commands start without its records."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """Exit codes of runs (contract, design 6). File commands use 0, 1 and 2 with their own meanings."""

    OK = 0  # as expected
    NONCONFORMANT = 1  # also: unexpected pass, new finding
    USAGE = 2  # also: nothing selected, an unknown name in a list
    COULD_NOT_RUN = 3  # a subject, a server or the lab itself
    INCOMPLETE = 4  # budget spent, interrupted
