"""Prediction speed: generated updates on documents of about 1 KB.

    python tests/benchmarks/bench_predict.py [--updates N]

For each update the model evaluates the expression, decides partial or full, and gives the field's bytes, the storage
size and the free space. The updates are made beforehand; CPU time of the prediction alone is counted.
"""

from __future__ import annotations

import argparse
from time import process_time

from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.layout import storage_free
from conformance.reference.partial.decision import decide
from conformance.reference.partial.expression import Assignment, Columns
from conformance.reference.partial.update import update_row
from generators import updates
from generators.documents import Size, document
from generators.draw import Stream

_COLUMNS = Columns(("j",))


def documents(count: int) -> list[bytes]:
    """Generated documents between 800 and 1300 bytes."""
    found: list[bytes] = []
    number = 0
    while len(found) < count:
        stored = encode(document(Stream("bench-predict", number), sizes=(Size.SMALL, Size.MEDIUM)))
        number += 1
        if 800 <= len(stored) <= 1300:
            found.append(stored)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--updates", type=int, default=20_000)
    options = parser.parse_args()
    starts = documents(200)
    work = []
    size = 0
    for number in range(options.updates):
        stored = starts[number % len(starts)]
        size += len(stored)
        expression = updates.partial(Stream("bench-predict", "update", number), "j", stored)
        work.append((stored, (Assignment("j", expression),)))
    partial = 0
    begun = process_time()
    for stored, assignments in work:
        change = update_row({"j": stored}, assignments, _COLUMNS, log_diffs=True)
        after = change.after["j"]
        decision = decide(stored, after, change.columns["j"], partial_json=True)
        partial += decision.partial
        if isinstance(after, bytes):
            storage_free(after)
    seconds = process_time() - begun
    print(  # noqa: T201 - the figures are the output
        f"{options.updates} updates of documents of {size / options.updates:.0f} bytes on average, {partial} partial: "
        f"{seconds:.2f} s CPU, {options.updates / seconds:,.0f} predictions per second and core"
    )


if __name__ == "__main__":
    main()
