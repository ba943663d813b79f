"""The rules that the census counts at transaction boundaries: kinds of transactions, damages, texts, and warnings."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from conformance.checks.boundaries import transactions
from conformance.reference.binlog.query import Query
from conformance.reference.boundaries.shipped import MESSAGES
from generators import streams

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from conformance.reference.binlog.event import Body
    from conformance.servers.roles.receiver import ParserWarning

KINDS: Final = {f"boundary/{kind}": f"a real transaction of the kind {kind}" for kind in transactions.KINDS}
_TEXTS: Final = {text: f"boundary-text/{text.decode()!r}" for text in streams.TEXTS}
_COMPLETED: Final = {text: f"boundary-text/{text.decode()!r} completed" for text in streams.COMPLETED}
_WARNINGS: Final = {(code, words): f"boundary-warning/{code} {words}".rstrip() for code, words in MESSAGES.values()}
RECEIVER: Final = {
    **{f"boundary-damage/{what}": f"a transaction of a stream with the damage: {what}" for what in streams.DAMAGES},
    **{rule: f"a QUERY event with the text {text.decode()!r}" for text, rule in _TEXTS.items()},
    **{
        rule: f"a QUERY event with the text {text.decode()!r} and the checksum that the receiver reads with it"
        for text, rule in _COMPLETED.items()
    },
    **{rule: f"a receiver's warning MY-{code:06} {words}".rstrip() for (code, words), rule in _WARNINGS.items()},
}
"""The rules of broken streams before a receiver."""


def of_receiver(bodies: Iterable[Body], damages: Mapping[str, int], expected: Iterable[ParserWarning]) -> Counter[str]:
    """The rules that one stream exercises."""
    counts = Counter({f"boundary-damage/{what}": number for what, number in damages.items()})
    queries = [body for body in bodies if isinstance(body, Query)]
    counts.update(_COMPLETED[body.text] for body in queries if isinstance(body, streams.CompletedQuery))
    counts.update(_TEXTS[body.text] for body in queries if type(body) is Query and body.text in _TEXTS)
    counts.update(_WARNINGS[known] for item in expected if (known := (item.code, item.words)) in _WARNINGS)
    return counts
