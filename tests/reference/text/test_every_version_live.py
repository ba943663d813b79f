"""The text of logs of every version that the kit has or makes, against mysqlbinlog itself: a gate.

The logs are those of the suite for decoders (5.1 to 9.7), those that 8.0.45 wrote, and those of public reports. What
the client refuses is no log for this test.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from conformance.checks.boundaries.marked_files import OTHER_WORDS
from conformance.checks.decoders.suite import load_suite
from conformance.reference.binlog.files import decode_file
from conformance.reference.binlog.format_description import FormatDescription
from conformance.reference.errors import CodecError
from tests.reference.text.test_logs_of_8_0 import LOGS, held
from tests.reference.text.test_mysqlbinlog_text import whole_text
from tests.reference.text.test_pseudo_sql import GEOMETRY_ERROR

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.live
REPORTS: Final = Path(__file__).parents[2] / "data" / "reports"
_LEAST: Final = 300  # logs that are compared, of them those of each version below
_REFUSED: Final = ("checksums/wrong-", "hostile/", "reports/one-bit-flipped")  # damage that the client prints
# Made by the kit, not by a server: the client knows no values of these types, and leaves out a load without blocks.
_OTHERWISE: Final = {
    "transactions/load-data-statement",
    *(f"oldtypes/{name}" for name in ("dates", "blobs", "var-string", "decimal-null", "typed-array-null")),
}
_VERSIONS: Final = ("5.6.", "5.7.", "8.0.", "8.4.", "9.7.")  # the client of 9.7 refuses rows of version 1


def logs() -> Iterator[tuple[str, bytes]]:
    """Yield the name and the bytes of each log."""
    for entry in load_suite().entries:
        if not entry.case.sparse:
            yield entry.case.id, entry.case.log
    for name in LOGS:
        yield f"8.0.45/{name}", held()[f"{name}.binlog"]
    for path in sorted(REPORTS.glob("*.binlog")):
        yield f"reports/{path.stem}", path.read_bytes()


def client_s(mysqlbinlog: list[str], path: Path) -> bytes | None:
    """Return the client's text, or ``None`` for a log that it refuses or whose rows it cannot print."""
    command = [*mysqlbinlog, "--no-defaults", "-vv", "--base64-output=decode-rows", "--print-table-metadata"]
    done = subprocess.run(
        [*command, f"--local-load={path.parent}", str(path)],
        env={**os.environ, "TZ": "UTC"}, capture_output=True, check=False,
    )  # fmt: skip
    return None if done.returncode or GEOMETRY_ERROR in done.stdout else OTHER_WORDS.sub(b"", done.stdout)


def test_the_text_of_every_log_is_the_client_s(mysqlbinlog: list[str], tmp_path: Path) -> None:
    path, different, compared = tmp_path / "log", [], dict.fromkeys(_VERSIONS, 0)
    for name, data in logs():
        path.write_bytes(data)
        real = client_s(mysqlbinlog, path)
        if real is None:
            continue
        try:
            ours = whole_text(path, types=True, metadata=True)
        except CodecError:
            assert name.startswith(_REFUSED), name
            continue
        if OTHER_WORDS.sub(b"", ours) != real:
            different.append(name)
        first = decode_file(data, verify=False)[0].body
        assert isinstance(first, FormatDescription)
        for version in _VERSIONS:
            compared[version] += first.server_version.startswith(version)
    assert set(different) == _OTHERWISE
    assert all(compared.values()), compared
    assert sum(compared.values()) >= _LEAST, compared
