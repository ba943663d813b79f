"""One run of the kit under other settings: on a server that it starts, or at the address of one that stands."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Final

from conformance.servers.auto import Wishes, resolve
from conformance.servers.run.process import ProcessServer
from conformance.verdict import FAILING
from tests.live import environment
from tests.settings.plan import OWN, PERSISTED, Run

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from conformance.servers.wire.connection import Connection

_PASSWORD: Final = "word-of-a-guest"  # of an account on a server of this machine that ends with the run
_USER: Final = "guest"


def take(run: Run, report: Path, arguments: Sequence[str]) -> dict[str, Any]:
    """Run the kit, and say how it ended: a row of JSON. ``arguments``: further words of the command."""
    begun = time.monotonic()
    with ExitStack() as stack:
        if run.place == OWN:
            given = [word for name, value in run.settings.items() for word in ("--server-option", f"{name}={value}")]
            env = environment()
        else:
            server = stack.enter_context(resolve("process", Wishes(performance_schema=True)))  # type: ignore[arg-type]
            assert isinstance(server, ProcessServer)
            _prepare(server, run)
            given = ["--server", f"mysql://{_USER}@127.0.0.1:{server.address.port}"]
            env = environment(BINLOG_LAB_PASSWORD=_PASSWORD)
        words = [sys.executable, "-m", "conformance", "conformance", *given, *arguments, "--report", str(report)]
        done = subprocess.run(
            words, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False
        )
    text = done.stdout + done.stderr
    return {
        "run": run.name,
        "settings": [f"{name}={value}" for name, value in run.settings.items()],
        "place": run.place,
        "arguments": shlex.join(arguments),
        "exit_code": done.returncode,
        "words": next((line.strip() for line in text.splitlines() if run.words and run.words in line), ""),
        "seconds": round(time.monotonic() - begun),
        **judged(report),
        "as_expected": done.returncode == run.code and run.words in text,
        **({} if done.returncode == run.code else {"end": text[-2000:]}),
    }


def _prepare(server: ProcessServer, run: Run) -> None:
    """Make the account, then set the variables: an account is made under the server's own settings."""
    with server.connect() as root:
        root.execute("SET SESSION sql_log_bin = 0")
        account = f"'{_USER}'@'127.0.0.1'"
        root.execute(f"CREATE USER {account} IDENTIFIED BY '{_PASSWORD}'")
        for name, value in run.settings.items() if run.place != PERSISTED else ():
            _set(root, "GLOBAL", name, value)
        for grant in ("ALL ON *.*",) if run.grants is None else run.grants:
            root.execute(f"GRANT {grant} TO {account}")
        for name, value in run.settings.items() if run.place == PERSISTED else ():
            _set(root, "PERSIST", name, value)
    if run.place == PERSISTED:
        server.restart({"defaults-file": server.defaults_file("[mysqld]\n")})


def _set(root: Connection, scope: str, name: str, value: str) -> None:
    root.execute(f"SET {scope} {name} = {value if value.isdigit() else repr(value)}")


def judged(report: Path) -> dict[str, Any]:
    """The red rows of a report, and how many requirements passed, Cases ran and updates were compared; empty without a
    report."""
    file = report / "results.json"
    if not file.exists():
        return {}
    results = json.loads(file.read_text(encoding="utf-8"))
    rows = results["requirements"].items()
    return {
        "red": sorted(name for name, row in rows if row["verdict"] in FAILING),
        "passed": sum(row["verdict"] == "pass" for _, row in rows),
        "cases": results["totals"]["cases"],
        "updates": results["totals"]["updates_compared"],
    }
