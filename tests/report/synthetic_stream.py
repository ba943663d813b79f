"""A made-up run with everything a report must show: passes, failures of several kinds, cases without result, gaps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.stream import (
    Block,
    CaseVerdict,
    DeviationInfo,
    End,
    Evidence,
    Finding,
    Progress,
    RequirementInfo,
    Run,
    Subject,
)
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from conformance.stream import AnyRecord

SERVER, REFERENCE = "mysql-9.7.4", "reference"
PREDICT, SIZES, DECODE = "checks/predict.py::partial_updates", "checks/sizes.py::storage", "checks/decode.py::captured"
RULES = {
    "decision/1-null": "An after-image that is NULL is stored as NULL, never as a diff.",
    "decision/2-option-off": "With the option off the full document is written.",
    "decision/3-unchanged": "An untouched column of a FULL image is an empty diff.",
    "decision/6-smaller": "The diffs are written when they are smaller than the full document.",
    "evaluation/set-replaces": "JSON_SET replaces an existing member.",
    "evaluation/set-inserts": "JSON_SET inserts a missing member.",
    "evaluation/remove": "JSON_REMOVE removes an existing member.",
    "type/DECIMAL": "DECIMAL inside a document.",
    "type/TIMESTAMP": "TIMESTAMP inside a document.",
}
REQUIREMENTS = {
    "FR1": RequirementInfo(title="Small changes of JSON documents are logged as diffs."),
    "FR2": RequirementInfo(title="The replica applies the diffs to its own document."),
    "FR11": RequirementInfo(title="The size of the event is bounded by the size of the change."),
    "FR12": RequirementInfo(title="The constant of the bound does not depend on the document.", level="should"),
    "OBS3": RequirementInfo(title="A REPLACE by the same bytes is refused.", level="info", basis="observed on 9.7.4"),
    "FR5": RequirementInfo(title="A diverged replica stops or keeps a valid document.", reason="needs a second server"),
    "NFR1": RequirementInfo(title="Throughput does not fall.", level="should", reason="no baseline build here"),
}
OLD = "00140023001200010013000300160002001800010002190005020061626363640565" * 3
PATH = b"$.a.deep[1]".hex()
RUN = Run(
    kit="0.1.0", seed=20240607, profile="quick", started="2024-06-07T08:09:10Z", selected=38,
    command="binlog-lab conformance --server auto --updates 100000 --seed 20240607 --report report",
    census_rules=RULES, census_wholes={"evaluation": ("evaluation/set-replaces", "evaluation/set-inserts")},
    census_mix={"evaluation/set-replaces": 0.5, "evaluation/set-inserts": 0.25},
    requirements=REQUIREMENTS,
    deviations={
        "noop-replace-refused": DeviationInfo(
            reason="A replica refuses a REPLACE that changes no byte.", requirements=("FR2",), versions="8.0.3.."
        )
    },
    environment={"python": "3.11.2", "platform": "Linux-6.1.0-x86_64 with glibc 2.36", "processors": "2"},
    options={"binlog_row_image": "FULL, MINIMAL, NOBLOB", "updates": 100_000},
)  # fmt: skip
SUBJECTS = (
    Subject(id=SERVER, role="server", version="MySQL 9.7.4", dialect="9.7", capabilities=("update", "capture"),
            note="auto chose the bundle: no mysqld on PATH"),
    Subject(id=REFERENCE, role="decoder", version="0.1.0"),
)  # fmt: skip
FAILURE = CaseVerdict(
    case="u/4f1d22c07a91", requirement="FR1", verdict=Verdict.FAIL, subject=SERVER, check=PREDICT, block=1,
    field="after.j.diffs[1].data", offset=17, message="The after-image differs from the prediction.",
    signature="FR1/fail/after.j.diffs[].data",
    replay="binlog-lab replay report/cases/4f1d22c07a91.json --server process",
    statements=(
        "CREATE TABLE t (id INT PRIMARY KEY, j JSON, k JSON);",
        """INSERT INTO t VALUES (1, '{"a": {"deep": [1, 2, 3]}, "b": "0123456789"}', NULL);""",
        "UPDATE t SET j = JSON_SET(j, '$.a.deep[1]', CAST(1.50 AS DECIMAL(10,2)));",
    ),
    evidence=(
        Evidence(field="header.type", offset=4, expected="27", got="27"),
        Evidence(field="rows[0].value_options", offset=45, expected="01", got="01"),
        Evidence(field="rows[0].partial_columns", offset=46, expected="03", got="01"),
        Evidence(field="rows[0].after.j.diffs[1].path", offset=61, expected=PATH, got=PATH),
        Evidence(field="rows[0].after.j.diffs[1].data", offset=73, expected=OLD, got=OLD[:34] + "ff00" + OLD[38:60]),
        Evidence(field="rows[0].after.k", offset=140, expected="00000000", got=None),
    ),
)  # fmt: skip
LOSS = CaseVerdict(
    case="u/9b2c00d4e551", requirement="FR11", verdict=Verdict.SILENT_LOSS, subject=REFERENCE, check=DECODE, block=0,
    message="The decoder gave no row for the event and no error.", signature="FR11/silent-loss/rows",
    expected='{"a": 1, "b": "ä"}', got='{"a": 1, "b": "a"}', field="text", offset=14,
    replay="binlog-lab replay report/cases/9b2c00d4e551.json",
)  # fmt: skip
UNDECIDED = CaseVerdict(
    case="sizes-large-border", requirement="FR12", verdict=Verdict.INCONCLUSIVE, subject=SERVER, check=SIZES, block=0,
    message="JSON_STORAGE_FREE could not be read: the connection was lost.",
)  # fmt: skip
BLOCKS = (
    Block(check=PREDICT, subject=SERVER, requirements=("FR1", "FR2"), block=0, cases=250, verdicts={"pass": 250},
          updates_compared=50_000, bytes_compared=61_234_567, bytes_predicted=51_000_000, bytes_by_rule=10_234_501,
          bytes_on_trust=66, texts_compared=50_000, sizes_compared=50_000,
          seconds=21.5,
          census={"decision/1-null": 812, "decision/3-unchanged": 9_113, "decision/6-smaller": 24_001,
                  "type/DECIMAL": 77}),
    Block(check=PREDICT, subject=SERVER, requirements=("FR1", "FR2"), block=1, cases=250,
          verdicts={"pass": 248, "fail": 1}, deviating=1, broken={"FR1": {"fail": 1}, "FR2": {"deviates": 1}},
          deviations={"noop-replace-refused": 1}, mismatches=1, updates_compared=49_750,
          bytes_compared=60_000_111, bytes_predicted=50_000_000, bytes_by_rule=10_000_045, bytes_on_trust=66,
          texts_compared=49_750, sizes_compared=49_750, seconds=20.25,
          census={"decision/2-option-off": 5, "evaluation/set-replaces": 40_100, "evaluation/set-inserts": 8_000}),
    Block(check=SIZES, subject=SERVER, requirements=("FR12",), block=0, cases=40,
          verdicts={"pass": 39, "inconclusive": 1}, seconds=2.0),
    Block(check=DECODE, subject=REFERENCE, requirements=("FR11",), block=0, cases=12,
          verdicts={"pass": 10, "silent-loss": 1, "not-applicable": 1}, mismatches=1, seconds=0.4),
)  # fmt: skip
LISTED = CaseVerdict(
    case="noop-replace", requirement="FR2", verdict=Verdict.FAIL, subject=SERVER, check=PREDICT, block=1,
    deviation="noop-replace-refused", message="3648",
)  # fmt: skip
FINDING = Finding(
    signature=FAILURE.signature or "", case_file="cases/4f1d22c07a91.json", replay=FAILURE.replay or "", hits=1,
    size_before=18_220, size_after=311,
)  # fmt: skip
END = End(exit_code=1, seconds=187.3)


def records() -> tuple[AnyRecord, ...]:
    """The whole run in the order of its stream."""
    return (
        RUN, *SUBJECTS, Progress(label="updates", done=250, total=500), BLOCKS[0], FAILURE, LISTED, BLOCKS[1],
        FINDING, UNDECIDED, BLOCKS[2], LOSS, BLOCKS[3], END,
    )  # fmt: skip


def green() -> tuple[AnyRecord, ...]:
    """The same run without anything that did not pass."""
    whole = Block(check=PREDICT, subject=SERVER, requirements=("FR1", "FR2", "FR11"), block=0, cases=500,
                  verdicts={"pass": 500}, updates_compared=100_000, bytes_compared=121_234_678, texts_compared=100_000,
                  sizes_compared=100_000, seconds=41.0, census=dict.fromkeys(RULES, 11_111))  # fmt: skip
    return (RUN, SUBJECTS[0], whole, End(exit_code=0, seconds=58.1, totals={"updates_per_second": 2439}))
