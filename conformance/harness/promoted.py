"""Cases promoted from findings: kept for good, and judged in every run.

In a checkout of the repository they are files of the kit (``promoted_cases``); an installed kit keeps a user's own in
the user's directory for data, or in that of ``BINLOG_LAB_CASES``. Inputs that crash other people's software are never
promoted: a seed finds them again, and a file could be passed on.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from conformance.cases.by_hand.event_case import EventCase
from conformance.cases.bytes_case import BytesCase
from conformance.cases.files import dump_case, load_any_case, validate
from conformance.cases.update_case import Hazard
from conformance.judge.damage.crashes import damage_of, damage_of_log
from conformance.messages import did_you_mean
from conformance.reference.errors import CodecError
from conformance.requirements.catalogue import REQUIREMENTS
from conformance.servers.errors import ServerUnavailable
from conformance.servers.install.cache import data_root

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.cases.files import AnyCase

VARIABLE: Final = "BINLOG_LAB_CASES"
SHIPPED: Final = Path(__file__).with_name("promoted_cases")
SLUG: Final = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_ABOUT: Final = ("id", "rev", "requirements", "seed", "note")  # fields of a Case that do not change what it does


class PromotionError(Exception):
    """A Case that cannot be promoted; the message says why."""


def own_directory() -> Path:
    """Where the Cases of a user are."""
    named = os.environ.get(VARIABLE)
    return Path(named) if named else data_root() / "cases"


def in_checkout() -> bool:
    """Whether this is the repository, not an installed package."""
    root = SHIPPED.parents[2]
    return (root / ".git").exists() and (root / "pyproject.toml").exists()


def target_directory() -> Path:
    """Where a promoted Case goes."""
    return SHIPPED if in_checkout() and not os.environ.get(VARIABLE) else own_directory()


def promoted() -> Iterator[tuple[AnyCase, str]]:
    """All promoted Cases, with their paths. Raises :class:`PromotionError` for a file that is no Case."""
    places = [(SHIPPED, "promoted")]
    with suppress(ServerUnavailable):  # a user without a home directory has no Cases of their own
        places.append((own_directory(), "promoted, your own"))
    for directory, origin in places:
        for path in sorted(directory.glob("*.json")):
            case = read_case(path)
            if not case.requirements or case.requirements[0] not in REQUIREMENTS:
                raise PromotionError(f"{path}: the Case is for no known requirement")
            yield case, origin


def read_case(path: Path) -> AnyCase:
    """The Case of a file."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(data, dict):
            raise PromotionError(f"{path}: not a Case: expected an object")
        return load_any_case(data)
    except OSError as problem:
        raise PromotionError(f"{path}: {problem.strerror or problem}") from None
    except RecursionError:
        raise PromotionError(f"{path}: not a Case: nested too deeply") from None
    except (ValueError, CodecError) as problem:
        raise PromotionError(f"{path}: not a Case: {problem}") from None


def content_hash(case: AnyCase) -> str:
    """The hash of what a Case does, independent of its name and of the reason to keep it."""
    data: dict[str, Any] = {name: value for name, value in dump_case(case).items() if name not in _ABOUT}
    text = json.dumps(data, sort_keys=True, separators=(",", ":"))
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def promote(
    case: AnyCase,
    *,
    identity: str,
    requirements: Sequence[str],
    note: str,
    suite: Sequence[AnyCase],
    directory: Path | None = None,
) -> Path:
    """Store a Case for good, as ``identity``. ``suite``: the Cases of the suite. Raises :class:`PromotionError`."""
    kept = replace(case, id=identity, rev=1, requirements=tuple(requirements) or case.requirements, note=note)
    if not SLUG.fullmatch(identity):
        raise PromotionError(f"{identity!r} is no id: lower case letters and digits, words joined by single hyphens")
    if not kept.requirements:
        raise PromotionError("the Case names no requirement: name one with -r")
    unknown = [name for name in kept.requirements if name not in REQUIREMENTS]
    if unknown:
        shown = ", ".join(f"{name}{did_you_mean(name, REQUIREMENTS)}" for name in unknown)
        raise PromotionError(f"unknown requirement {shown}")
    if may_crash(case):
        raise PromotionError(
            "this input may crash other people's software, and such inputs are kept nowhere: the lab finds it again "
            f"from its seed ({case.seed or 'in the report'}); SECURITY.md says what to do with it"
        )
    digest = content_hash(case)
    for other in suite:
        if content_hash(other) == digest:
            raise PromotionError(f"the suite has it already: {other.id} does the same (content {digest})")
        if other.id == identity:
            raise PromotionError(f"the suite has another Case named {identity}: choose another id")
    data = json.loads(json.dumps(dump_case(kept)))
    if load_any_case(data) != kept:
        raise PromotionError("the Case does not come back from its file as it was")
    with suppress(ImportError):  # the schema library is no part of a plain install; the reader has checked it anyway
        validate(data)
    place = target_directory() if directory is None else directory
    path = place / f"{identity}.json"
    try:
        place.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(json.dumps(data, indent=1) + "\n")
    except OSError as problem:
        raise PromotionError(f"{path}: {problem.strerror or problem}") from None
    return path


def may_crash(case: AnyCase) -> bool:
    """Whether a Case may crash a program: by its hazard, or by known damage in its bytes."""
    if case.hazard is Hazard.MAY_CRASH:
        return True
    if isinstance(case, EventCase):
        return bool(damage_of(case.injection.image))
    return isinstance(case, BytesCase) and bool(damage_of_log(case.data))
