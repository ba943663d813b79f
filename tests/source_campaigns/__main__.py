# ruff: noqa: T201 (it prints)
"""``python -m tests.source_campaigns replica|clients|hostile|mariadb``: long runs against the lab's source.

Exit code 1 if a replica ends with other rows, a client answers otherwise than with a server, or the lab takes harm.
"""

from __future__ import annotations

import argparse
import sys
import time

from conformance.harness.updates.predicted_log import LogForm
from conformance.servers.auto import find_installation
from conformance.servers.run.process import launch
from conformance.servers.specs import parse_spec
from tests.source_campaigns import clients, hostile, mariadb, replica


def _note(text: str) -> None:
    print(text, file=sys.stderr)


def _replica(arguments: argparse.Namespace) -> int:
    wrong = 0
    installation = find_installation(parse_spec("process"), narrate=_note)
    with launch(installation, options=replica.OPTIONS, server_id=94, performance_schema=True) as server:
        for number, form in enumerate(LogForm):
            begun = time.process_time()
            by_gtid = bool(number % 2) or form is LogForm.TAGGED
            found = replica.follow(server, arguments.seed, arguments.updates, form, by_gtid=by_gtid, tls=not by_gtid)
            print(
                f"{form}: {found.updates:,} updates in {found.tables} tables, {found.rows:,} rows and "
                f"{found.documents:,} documents compared, {len(found.different)} tables differ; "
                f"{found.partial:,} partial row events; {'GTIDs' if by_gtid else 'position'}; {found.path}; "
                f"{time.process_time() - begun:.1f} CPU s of the lab"
            )
            for text in (found.error, *found.different):
                if text:
                    print(f"  {text}")
            wrong += bool(found.error or found.different)
    return wrong


def _clients(arguments: argparse.Namespace) -> int:
    wrong = 0
    cases = clients.suite_cases(arguments.step)
    for name in arguments.client or clients.CLIENTS:
        found = clients.compare(name, cases, _note)
        print(f"{name}: {dict(found.counts)}, {len(found.different)} answers differ")
        wrong += len(found.different)
    return wrong


def _hostile(arguments: argparse.Namespace) -> int:
    wrong = 0
    for place, name in enumerate(names := arguments.client or ["python-mysql-replication-stream", "zongji"]):
        share = arguments.streams // len(names)
        harm = hostile.run(name, place * share, share, _note)
        print(f"{name}: {share} streams, {dict(harm.outcomes)}, {len(harm.problems)} problems")
        for text in harm.problems:
            print(f"  {text}")
        wrong += len(harm.problems)
    return wrong


def _mariadb(arguments: argparse.Namespace) -> int:
    found = mariadb.run(arguments.changes)
    print(f"{found.version}: {found.changes:,} row changes, {found.rows:,} rows, {len(found.problems)} problems")
    for text in found.problems:
        print(f"  {text}")
    for what, error in found.refused.items():
        print(f"not comparable: {mariadb.NOT_COMPARABLE[what]}: {error[:100]}")
    return len(found.problems)


def main() -> int:
    """Run one campaign."""
    parser = argparse.ArgumentParser(prog="python -m tests.source_campaigns", description=__doc__)
    kinds = parser.add_subparsers(required=True)
    one = kinds.add_parser("replica", help="a MySQL replica follows generated updates to equal rows")
    one.add_argument("--updates", type=int, default=10_000)
    one.add_argument("--seed", default="1")
    one.set_defaults(run=_replica)
    two = kinds.add_parser("clients", help="clients answer as with a MySQL server")
    two.add_argument("client", nargs="*")
    two.add_argument("--step", type=int, default=1, help="one Case of the suite in so many")
    two.set_defaults(run=_clients)
    three = kinds.add_parser("hostile", help="hostile streams do no harm to the lab")
    three.add_argument("client", nargs="*")
    three.add_argument("--streams", type=int, default=500)
    three.set_defaults(run=_hostile)
    four = kinds.add_parser("mariadb", help="MariaDB's replica follows what it knows of MySQL's log")
    four.add_argument("--changes", type=int, default=2000)
    four.set_defaults(run=_mariadb)
    arguments = parser.parse_args()
    return int(bool(arguments.run(arguments)))


if __name__ == "__main__":
    sys.exit(main())
