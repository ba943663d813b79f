"""``matrix estimate`` against the truth: the same updates on a real server with partial JSON off and on.

    python tests/benchmarks/bench_estimate.py --updates 50000            # updates of single values
    python tests/benchmarks/bench_estimate.py --updates 5000 --kind all  # every kind of updates

What the estimate makes of the log without partial JSON is compared with the log of the same statements with it: every
field, every row, and the total of the row events.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from conformance.servers.auto import find_installation
from conformance.servers.run.process import launch
from conformance.servers.specs import parse_spec
from tests.scenarios.estimate_checks import compare
from tests.scenarios.workloads import KINDS, run, workload


def main() -> int:
    """Exit code 1 if a real cost lies outside of its bounds, or the leaves are more than 1 % off."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--updates", type=int, default=5000)
    parser.add_argument("--kind", choices=[*KINDS, "all"], default="leaves")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="where the logs are kept")
    options = parser.parse_args()
    kinds = KINDS if options.kind == "all" else (options.kind,)
    failed = False
    server = launch(find_installation(parse_spec("process"), narrate=_say))
    with server, tempfile.TemporaryDirectory() as scratch:
        place = options.keep or Path(scratch)
        place.mkdir(parents=True, exist_ok=True)
        _say(f"MySQL {server.version}")
        for kind in kinds:
            started = time.monotonic()
            made = workload(kind, options.updates)
            off, on = place / f"{kind}-off.binlog", place / f"{kind}-on.binlog"
            for path, partial_json in ((off, False), (on, True)):
                path.write_bytes(run(server, made, partial_json=partial_json))
            found = compare(off, on)
            failed |= bool(found.outside or found.wrong) or (kind == "leaves" and found.error > 0.01)
            _say(
                f"{kind:<10} {found.rows:>7,} rows  off {found.off:>13,}  on {found.real:>13,}"
                f"  estimate {found.leaves:>13,} ({100 * (found.leaves - found.real) / found.real:+.3f} %)"
                f"  of the columns {found.leaf_fields:,} for {found.real_fields:,}"
                f"  bounds {found.least:,} … {found.most:,}  outside {len(found.outside)}  wrong {len(found.wrong)}"
                f"  {time.monotonic() - started:.0f} s"
            )
            for line in (*found.outside, *found.wrong)[:5]:
                _say(f"  {line}")
    return int(failed)


def _say(text: str) -> None:
    print(text, flush=True)  # noqa: T201 - a program


if __name__ == "__main__":
    sys.exit(main())
