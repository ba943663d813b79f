"""FR5: objects whose entries are damaged, in a diff and in an event that logs the document in full.

Such an event may kill the server, so the lab gives it only to a server that it started itself and watches. A death is a
verdict with its signature, and the server starts again for the next event. A start takes more than a second, so a run
has only some deaths of a kind; events left out do not count.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

import pytest

from conformance.harness.injections import judged_injection, not_shown, record_tried
from conformance.harness.witnesses import record_not_shown
from conformance.judge.damage.crashes import damage_of
from conformance.requirements.crashes import APPLYING, MEMBER_IN_DIFF, MEMBER_IN_DOCUMENT, READING, TWICE_IN_DIFF
from generators import object_entries
from generators.draw import Stream

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.cases.by_hand.injection import Injection
    from conformance.harness.check import Check
    from conformance.harness.injections import Tried
    from conformance.servers.roles.injector import Injector

_DAMAGES: Final = (MEMBER_IN_DIFF, MEMBER_IN_DOCUMENT, TWICE_IN_DIFF)


def made(check: Check) -> Iterator[tuple[str, Injection]]:
    """The name of each event's seed, and the event."""
    entries = 3 * check.size("deaths")
    for place in (object_entries.DIFF, object_entries.FULL):
        for keys, count in ((True, entries), (False, check.size())):
            for number in range(count):
                key = ("members", check.seed, place, "keys" if keys else "others", number)
                yield " ".join(map(str, key)), object_entries.injection(Stream(*key), place, keys=keys)
    for number in range(entries):
        key = ("members", check.seed, object_entries.DIFF, "twice", number)
        yield " ".join(map(str, key)), object_entries.twice(Stream(*key))


def run(check: Check, injector: Injector) -> list[Tried]:
    """Run all events, except those of a kind of damage that has killed the server often enough."""
    most = check.size("deaths")
    deaths: Counter[str] = Counter()
    items: list[Tried] = []
    rows = injector.load([object_entries.STORED])
    for seed, injection in made(check):
        damage = damage_of(injection.image)
        if deaths[damage] >= most:
            continue
        items.append(judged_injection(check.lab, injector, injection, injector.inject(injection, rows), seed))
        deaths[damage] += bool(items[-1].death)
    return items


@pytest.mark.check("members")
def test_damaged_object_entries(check: Check) -> None:
    """Damaged object entries give an error that changes nothing; of a repeated key the last value counts."""
    check.needs_own_server(
        "a server: events are put into one", "needs a server that the lab starts itself: events may crash it"
    )
    injector = check.lab.injector()
    assert injector is not None
    with check.block(cases=None) as block:
        items = run(check, injector)
        record_tried(block, items)
    if not check.failures.count:
        record_not_shown(check, not_shown(check.lab, items, APPLYING, READING, damages=_DAMAGES))
