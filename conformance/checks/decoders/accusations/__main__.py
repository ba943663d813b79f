"""Try every accusation of subjects again: ``python -m conformance.checks.decoders.accusations SUBJECT...``.

Each Case that a subject does not pass becomes a script, which calls the subject's library alone. What it shows goes to
``records.json``. ``--scripts DIR`` keeps the scripts, and ``--draw N --seed TEXT`` tries a sample and writes no record.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter, defaultdict
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conformance.checks.decoders.accusations.proof import State, prove
from conformance.checks.decoders.accusations.records import RECORDS, load_records, name_of
from conformance.checks.decoders.accusations.vendors import VENDORS
from conformance.checks.decoders.data_files import load_files
from conformance.checks.decoders.findings import directory_name
from conformance.checks.decoders.suite import load_suite
from conformance.harness.decoders import OpenedSubject
from conformance.subjects.answers import SubjectUnavailable
from conformance.subjects.builtin.catalogue import entry
from conformance.verdict import Verdict
from generators.draw import Stream

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from conformance.cases.decoder_case import DecoderCase
    from conformance.checks.decoders.accusations.proof import Proof
    from conformance.judge.decoding.judge import Judgement

_CALM = (Verdict.PASS, Verdict.NOT_APPLICABLE, Verdict.NOT_RUN)


def accusations(spec: str, chosen: Callable[[DecoderCase], bool]) -> list[tuple[str, DecoderCase, Judgement]]:
    """The name of a subject with each of the chosen Cases that it does not pass, and the judgement."""
    out = []
    with OpenedSubject(spec) as subject:
        for case in filter(chosen, (*load_suite().cases, *load_files().cases)):
            judged = subject.judge(case)
            if judged.judgement is not None and judged.verdict not in _CALM:
                out.append((name_of(spec), case, judged.judgement))
    return out


def drawn(specs: Sequence[str], count: int, seed: str) -> dict[str, set[str]]:
    """So many of the differences that are published of these subjects, each with one of its Cases, by subject."""
    records = load_records()
    published: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for spec in specs:
        for case, known in records.get(name_of(spec), {}).get("cases", {}).items():
            if known["state"] == State.REPRODUCED:
                published[spec, known["signature"]].append(case)
    found: dict[str, set[str]] = {spec: set() for spec in specs}
    draw = Stream("accusations", seed)
    for spec, signature in draw.sample(list(published), min(count, len(published))):
        found[spec].add(draw.choice(published[spec, signature]))
    return found


def record(case: DecoderCase, judgement: Judgement, proof: Proof) -> dict[str, Any]:
    """Return the entry of a Case in ``records.json``."""
    found = {"signature": judgement.signature, "verdict": judgement.verdict.value, "state": proof.state.value}
    return {**found, **({"program": proof.program} if proof.program else {}), "rev": case.rev}


def main() -> int:
    """Try the subjects that are named."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("subjects", nargs="+")
    parser.add_argument("--scripts", type=Path, help="keep the scripts in this directory")
    parser.add_argument(
        "--groups",
        nargs="+",
        default=(),
        help="these groups or Cases of the suite only, such as xa or columns/enum-*; keeps the records of the others",
    )
    parser.add_argument(
        "--library",
        dest="arguments",
        nargs="+",
        default=(),
        help="arguments of the scripts, such as the place of a library",
    )
    parser.add_argument("--draw", type=int, help="try so many of those that are published, drawn by the seed")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--output", type=Path, default=RECORDS)
    wanted = parser.parse_args()
    cases = drawn(wanted.subjects, wanted.draw, wanted.seed) if wanted.draw else None
    groups = [group if "/" in group else f"{group}/*" for group in wanted.groups]
    found = []
    try:
        for spec in wanted.subjects:
            if cases is None:
                found += accusations(spec, lambda case: not groups or _among(case.id, groups))
            else:
                found += accusations(spec, lambda case, own=cases[spec]: case.id in own)  # type: ignore[misc]
    except SubjectUnavailable as problem:
        sys.stderr.write(f"{problem}\n")
        return 3
    names = [name_of(spec) for spec in wanted.subjects]
    subjects: dict[str, Any] = {name: {"version": entry(name).version, "cases": {}} for name in names}
    counts: Counter[tuple[str, str]] = Counter()
    for name, case, judgement in found:
        words = wanted.arguments if name in VENDORS and VENDORS[name].elsewhere else ()
        proof = prove(name, case, judgement, judgement.signature, words)
        counts[name, proof.state.value] += 1
        subjects[name]["cases"][case.id] = record(case, judgement, proof)
        said = " / ".join(proof.said.splitlines())
        print(f"{name}\t{case.id}\t{judgement.verdict.value}\t{judgement.signature}\t{proof.state}\t{said}", flush=True)
        if wanted.scripts and proof.script:
            place = wanted.scripts / name / f"{directory_name(case.id.replace('/', '-'))}.py"
            place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            place.write_text(proof.script, encoding="utf-8", errors="backslashreplace")
    for (name, state), count in sorted(counts.items()):
        print(f"{name}: {count} {state}")
    if not wanted.draw:
        _write(wanted.output, subjects, groups)
    return 0


def _among(case: str, groups: Collection[str]) -> bool:
    return any(fnmatchcase(case, group) for group in groups)


def _write(path: Path, subjects: dict[str, Any], groups: Collection[str]) -> None:
    """Replace the parts of these subjects, or those of some groups of them."""
    known = json.loads(path.read_text("utf-8"))["subjects"] if path.exists() else {}
    for name, about in subjects.items():
        kept = known.get(name, {}).get("cases", {}) if groups else {}
        about["cases"] = {case: one for case, one in kept.items() if not _among(case, groups)} | about["cases"]
    data = {"schema": 1, "subjects": dict(sorted((known | subjects).items()))}
    path.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    raise SystemExit(main())
