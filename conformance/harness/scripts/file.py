"""A bytes Case as a script that makes the file and gives it to its program."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from conformance.harness.scripts.shell import head, tell, variable

if TYPE_CHECKING:
    from conformance.cases.bytes_case import BytesCase

_WIDTH = 100


def file_script(case: BytesCase) -> str:
    """A shell script; its output shows how the program ended (a status above 128: by a signal)."""
    text = base64.b64encode(case.data).decode("ascii")
    about = [
        f"Case {case.id}{f', seed {case.seed}' if case.seed else ''}; requirements: {', '.join(case.requirements)}",
        f"{case.name}: a file for {case.subject}, which is to name the damage, and to print the event behind it.",
    ]
    lines = [
        *head(about, [variable("MYSQLBINLOG")]),
        'base64 --decode > "$work/damaged.binlog" <<END_OF_FILE',
        *(text[start : start + _WIDTH] for start in range(0, len(text), _WIDTH)),
        "END_OF_FILE",
        '$MYSQLBINLOG --no-defaults -v --base64-output=decode-rows "$work/damaged.binlog" 2>&1',
        "status=$?",
        'verdict="as expected"; [ $status -gt 128 ] && verdict=FAULT',
        tell(
            f"how {case.subject} ends",
            "no signal ends it (a status above 128)",
            '"exit status $status"',
            '"$verdict"',
        ),
    ]
    return "\n".join(lines) + "\n"
