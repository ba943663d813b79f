"""The first record of the stream: what a run is about to judge, by which catalogue, and where."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from conformance.harness.environment import environment
from conformance.harness.profiles import PROFILES
from conformance.harness.updates.captures import UPDATES
from conformance.judge.census import MIX, RULES, WHOLES
from conformance.judge.updates.borrowed import TRUST
from conformance.requirements.catalogue import REQUIREMENTS
from conformance.requirements.deviations import load_deviations
from conformance.servers.specs import parse_spec
from conformance.stream import DeviationInfo, RequirementInfo, Run
from conformance.version import __version__

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from conformance.harness.settings import Settings


def run_record(
    settings: Settings,
    *,
    profile: str,
    command: str,
    selected: int,
    judged: Collection[str],
    columns: Sequence[str] = (),
    recording: Mapping[str, str] | None = None,
    report: str = "",
) -> Run:
    """The record of a run with ``selected`` checks of all columns. ``judged``: requirements of this column's checks.

    ``recording``: the words about the recording that is made or judged.
    """
    return Run(
        report=report,
        kit=__version__,
        seed=settings.seed,
        profile=profile,
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        command=command,
        selected=selected,
        census_rules=RULES,
        census_wholes=WHOLES,
        census_mix=MIX,
        trust={} if settings.subject else TRUST,
        requirements={
            name: RequirementInfo(
                title=item.statement,
                level=item.level,
                basis=item.basis,
                group=item.group,
                source=f"{item.document}, {item.section}",
                allowed=item.allowed,
                needs=item.needs,
                within=item.within,
                # The catalogue's reason for a requirement of another profile is void in this run.
                reason=None if item.reason is not None and name in judged else item.explanation,
                finite=item.finite,
                judged_on=item.judged_on,
            )
            for name, item in REQUIREMENTS.items()
        },
        deviations={
            item.id: DeviationInfo(
                reason=item.reason,
                requirements=item.requirements,
                versions=item.versions,
                observed=", ".join(item.observed),
                ends="" if item.crash is None else item.crash.ends,
            )
            for item in (load_deviations(settings.deviations_file) if settings.deviations else ())
        },
        environment=environment(),
        options={
            **(
                {}
                if settings.subject
                else {
                    "updates": settings.updates,
                    "updates_of_profile": UPDATES if settings.server == "none" else PROFILES[settings.profile],
                    "server": str(parse_spec(settings.server)),
                }
            ),
            **({"servers": list(columns)} if columns else {}),
            **({} if recording is None else {"recording": recording}),
        },
    )
