"""The outcomes of a campaign as a table for people: what each subject did, how often, and whether that is allowed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fuzz.campaigns.damaged_fields import damaged_fields
from fuzz.campaigns.findings import diff_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fuzz.campaigns.buckets import Buckets


def outcome_lines(buckets: Buckets) -> Iterator[str]:
    """One line for each outcome, the most frequent first."""
    totals: dict[str, int] = {}
    for (channel, _, _), count in buckets.outcomes.items():
        totals[channel] = totals.get(channel, 0) + count
    for channel, total in totals.items():
        yield f"{channel}: {total:,} inputs"
        found = [(count, what, word) for (name, what, word), count in buckets.outcomes.items() if name == channel]
        for count, what, word in sorted(found, key=lambda item: (-item[0], item[1:])):
            yield f"  {count:>9,}  {100 * count / total:5.1f} %  {what:<34}  {word}"


def bucket_lines(buckets: Buckets) -> Iterator[str]:
    """One line for each bucket, with the place where it is kept."""
    for bucket in buckets.found.values():
        word = str(bucket.first.judged.verdict) if bucket.entry is None else f"listed as {bucket.entry.id}"
        about = buckets.bench.about_place(bucket.smallest)
        size = f"{diff_bytes(bucket.first)} bytes"
        if bucket.smallest is not bucket.first:
            size += f" made {diff_bytes(bucket.smallest)}"
        notes = ["known"] if bucket.known else []
        notes += [] if bucket.again else ["not seen again"]
        if bucket.place_of is not None:
            notes.append(f"another place of {bucket.place_of.name}")
        once = "".join(f", {note}" for note in notes)
        place = f"; {about}" if about else ""
        yield f"{bucket.name}: {bucket.first.what}, {bucket.count} times, {size}, {word}{once}{place}"
        if bucket.is_finding:
            yield from (f"  damaged: {line}" for line in damaged_fields(bucket.smallest.case))
        yield from (f"  {stack or bucket.first.judged.rule} ({count})" for stack, count in bucket.stacks.most_common(5))
        yield f"  {bucket.directory}"
