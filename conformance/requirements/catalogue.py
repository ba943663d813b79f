"""The requirements that checks refer to: identity, level, basis and statement, in our own words.

``reason`` says why a requirement is not judged by this version of the kit; the report shows it beside the row, so that
nothing is missing without a word. FR, NFR and NR are those of WL#2955; D1 to D7 are its conditions for logging diffs,
in the order of the requirements sheet, section 2; F3 is its format rule for rows and diffs; IP rows stand for the
in-place partial update of JSON columns, which has no worklog of its own here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

_PAIR: Final = "needs a source and a replica, which this version does not start"
_OLD: Final = "needs an older server, which this version does not start"
_LATER: Final = "not judged by this version"


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """One numbered sentence."""

    title: str
    level: str = "must"
    basis: str = "worklog"
    reason: str | None = None


def _must(title: str, reason: str | None = None, *, basis: str = "worklog") -> Requirement:
    return Requirement(title=title, reason=reason, basis=basis)


def _must_not_demand(title: str) -> Requirement:
    return Requirement(title=title, level="info", reason="a thing that a kit must not demand")


REQUIREMENTS: Final[dict[str, Requirement]] = {
    "FR1": _must("With PARTIAL_JSON, updates that qualify are logged as diffs; otherwise nothing changes in the log."),
    "FR2": _must("A replica that has the same document gets the same document from the diffs."),
    "FR3": _must("The output of mysqlbinlog, fed to a server, makes the same changes.", _LATER),
    "FR4": _must("Diffs also apply where the replica's document is equal in value or text only.", _PAIR),
    "FR5": _must("On a diverged replica: an error or a valid document; never a crash or invalid JSON.", _PAIR),
    "FR6": _must("A replica logs partially under its own option, and updates in place itself.", _PAIR),
    "FR7": _must("mysqlbinlog -v shows the diffs completely.", _LATER),
    "FR8": _must("With the option off the log is as it was before the feature.", _OLD),
    "FR9": _must("The option can grow new members.", _LATER),
    "FR10": _must("An old server stops with an error at the new event.", _OLD),
    "FR11": _must("A row event with diffs grows or shrinks by the diffs against the documents, and a small constant."),
    "FR12": _must("A row without diffs costs at most a small constant more when the option is on."),
    "FR13": _must("Other events keep their size."),
    "FR14": _must("No memory is used for the feature while it is off.", _LATER),
    "FR15": _must("Throughput with the option on, for updates without JSON, falls by no more than 2 %.", _LATER),
    "FR16": _must("Throughput with the option off falls by no more than 2 %.", _LATER),
    "NFR1": _must("The format leaves room for other kinds of partial values.", _LATER),
    "NR1": _must_not_demand("That a diverged update always fails."),
    "NR2": _must_not_demand("That a full update costs nothing more."),
    "NR3": _must_not_demand("That the root of a document can be a diff."),
    "NR4": _must_not_demand("That lists of diffs are bounded or optimised."),
    "NR5": _must_not_demand("That equal documents always get the same decision."),
    "D1": _must("Condition 1: the binary log is open and enabled for the transaction."),
    "D2": _must("Condition 2: the option is on in the session."),
    "D3": _must("Condition 3: the statement is logged as rows."),
    "D4": _must(
        "Condition 4: row events are not version 1.",
        "log_bin_use_v1_row_events exists up to 8.2 only; checked where a server has it",
    ),
    "D5": _must("Condition 5: the column is assigned a chain of the partial functions over itself."),
    "D6": _must("Condition 6: the diffs are smaller than the document."),
    "D7": _must("Condition 7: diffs stand in after-images only."),
    "F3": _must("Row events, shared images and diffs have the layout of the format section, to the byte."),
    "IP1": _must("Stored size and free space follow the in-place rules.", basis="observed on 9.7.4"),
    "IP2": _must("The document prints as the model says after every update.", basis="observed on 9.7.4"),
}
