"""FR5: objects whose entries are damaged, in a diff and in an event that logs the document in full.

Such an event may kill the server, so these are put only into one that the lab started itself and watches: a death is a
verdict with its signature, and the server is started again for the next event. A start takes more than a second, so
there are only some deaths of a kind in a run; what is left out then is not counted.
"""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING, Final

import pytest

from conformance.harness.injections import explaining, injected, record
from conformance.harness.witnesses import unexpected_pass
from conformance.judge.damage.crashes import damage_of
from conformance.requirements.crashes import APPLYING, READING
from conformance.requirements.versions import applies
from conformance.servers.run.owned import OwnServer
from generators import object_entries
from generators.draw import Stream

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from conformance.cases.by_hand.injection import Injection
    from conformance.harness.injections import Tried
    from conformance.harness.lab import Lab
    from conformance.requirements.deviations import Deviation
    from conformance.servers.roles.injector import Injector

_DEATHS: Final = {"quick": 2, "full": 12, "soak": 100}  # of one kind of damage
_OTHERS: Final = {"quick": 30, "full": 600, "soak": 10_000}  # in each place
_CHECK: Final = "diverged/members"


def made(seed: str, profile: str) -> Iterator[tuple[str, Injection]]:
    """What makes each one again, and the event."""
    for place in (object_entries.DIFF, object_entries.FULL):
        for keys, count in ((True, 3 * _DEATHS[profile]), (False, _OTHERS[profile])):
            for number in range(count):
                key = ("members", seed, place, "keys" if keys else "others", number)
                yield " ".join(map(str, key)), object_entries.injection(Stream(*key), place, keys=keys)
    for number in range(3 * _DEATHS[profile]):
        key = ("members", seed, object_entries.DIFF, "twice", number)
        yield " ".join(map(str, key)), object_entries.twice(Stream(*key))


def run(lab: Lab, injector: Injector, events: Iterable[tuple[str, Injection]], most: int) -> list[Tried]:
    """All events, without those of a kind of damage that has killed the server often enough."""
    deaths: Counter[str] = Counter()
    items: list[Tried] = []
    rows = injector.load([object_entries.STORED])
    for seed, injection in events:
        damage = damage_of(injection.image)
        if deaths[damage] >= most:
            continue
        items.append(injected(lab, injector, injection, injector.inject(injection, rows), seed))
        deaths[damage] += bool(items[-1].death)
    return items


def not_shown(lab: Lab, items: Iterable[Tried]) -> list[Deviation]:
    """Listed ends of this server that none of the events showed."""
    shown = {entry.id for item in items if (entry := explaining(lab.deviations, lab.version, item)) is not None}
    return [
        entry
        for entry in lab.deviations
        if entry.crash is not None
        and entry.crash.during in (APPLYING, READING)
        and applies(entry.versions, lab.version)
        and lab.asked_for(entry)
        and entry.id not in shown
    ]


@pytest.mark.requirement("FR5")
def test_damaged_members(lab: Lab) -> None:
    """Generated damage in the entries of objects: an error that changes nothing, or of a key that comes twice the last
    value; and the server lives."""
    server = lab.server
    if server is None:
        pytest.skip("needs a server: events are put into one")
    if not isinstance(server, OwnServer):
        lab.not_applicable(_CHECK, "FR5", "what may crash a server is put only into one that the lab starts itself")
        return
    injector = lab.injector()
    assert injector is not None
    begun = time.perf_counter()
    profile = lab.settings.profile
    items = run(lab, injector, made(lab.settings.seed, profile), _DEATHS[profile])
    failures = record(lab, _CHECK, 0, items, time.perf_counter() - begun)
    if failures:
        pytest.fail(f"{failures} cases failed; see the report", pytrace=False)
    unexpected_pass(lab, _CHECK, not_shown(lab, items))
