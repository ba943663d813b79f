"""``binlog-lab smoke``: proves an adapter, step by step, before the suite judges the subject."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import click

from conformance.cli.helpful import LabCommand
from conformance.console import narrate
from conformance.exit_code import ExitCode
from conformance.messages import counted, printable
from conformance.user_errors import CouldNotRun, Usage

if TYPE_CHECKING:
    from conformance.harness.smoke import StepOutcome


@click.command(name="smoke", cls=LabCommand)
@click.argument("subject", metavar="SUBJECT")
def command(subject: str) -> int:
    """Prove the adapter of a subject, before 'conformance --subject' judges it.

    SUBJECT is 'cmd:PROGRAM … {file}', 'jsonl:PROGRAM …', py:MODULE:OBJECT, 'wire:PROGRAM …', or a built-in name. The
    subject introduces itself and reads some trivial logs or data files. A step that goes wrong says exactly what was
    expected and what came.
    """
    from conformance.checks.decoders.data_files import load_files
    from conformance.checks.decoders.suite import load_suite
    from conformance.harness.smoke import FEATURES, FILES, ROWS, StepOutcome, steps
    from conformance.subjects.answers import SubjectUnavailable
    from conformance.subjects.specs import SubjectSpecError, parse_subject

    outcomes: Counter[StepOutcome] = Counter()
    try:
        spec = parse_subject(subject)
    except SubjectSpecError as problem:
        raise Usage(str(problem)) from problem
    try:
        suite, files = load_suite(), load_files()
        cases = {name: suite.case(name) for name in (*ROWS, *FEATURES)}
        for step in steps(spec, cases | {name: files.case(name) for name in FILES.values()}, narrate):
            click.echo(f"{step.outcome:5}  {printable(step.title)}")
            for line in step.lines:
                click.echo(f"       {printable(line)}")
            outcomes[step.outcome] += 1
    except SubjectUnavailable as problem:
        raise CouldNotRun(f"{spec}: {problem}") from problem
    judged = f"binlog-lab conformance --subject {_quoted(subject)}"
    if outcomes[StepOutcome.WRONG]:
        narrate("the adapter does not work yet; the reference page 'Adapters' has the protocol")
        return int(ExitCode.NONCONFORMANT)
    if lost := outcomes[StepOutcome.LOSES]:
        narrate(f"the adapter answers; row changes of {counted(lost, 'log')} are lost or altered in silence: {judged}")
        return int(ExitCode.NONCONFORMANT)
    narrate(f"the adapter works: {judged}")
    return int(ExitCode.OK)


def _quoted(subject: str) -> str:
    import shlex

    from conformance.subjects.specs import shown

    return shlex.quote(shown(subject))
