"""Several servers and subjects in one run: which replica belongs to which server, and what the columns are called."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from conformance.subjects.specs import SubjectSpecError, builtin_names, parse_subject
from conformance.user_errors import Usage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.subjects.specs import SubjectSpec

ALL: Final = "all"  # of --subject
SERVER, REPLICA = "servers", "replicas"  # names of options


def server_pairs(
    servers: Sequence[str], replicas: Sequence[str], order: Sequence[str], *, default: str = "auto"
) -> list[tuple[str, str]]:
    """Each server with its replica; an empty replica means the server's own spec. Without any server: the default."""
    pairs: list[tuple[str, str]] = []
    given, followers = iter(servers), iter(replicas)
    for name in order:
        if name == SERVER:
            pairs.append((next(given), ""))
            continue
        replica = next(followers)
        if not pairs:
            raise Usage("a --replica belongs to the --server before it", hint="--server auto --replica SPEC")
        if pairs[-1][1]:
            raise Usage(f"two replicas for --server {pairs[-1][0]}: give one --replica for each --server")
        pairs[-1] = (pairs[-1][0], replica)
    return pairs or ([(default, "")] if default else [])


def named_subjects(words: Sequence[str]) -> list[SubjectSpec]:
    """The subjects that the user named, each once; ``all`` stands for every built-in one."""
    names = [name for word in words for name in (builtin_names() if word.strip() == ALL else (word,))]
    try:
        return list({spec.given: spec for spec in map(parse_subject, names)}.values())
    except SubjectSpecError as problem:
        raise Usage(str(problem)) from problem


def column_names(specs: Sequence[str]) -> list[str]:
    """A name for each column, without secrets: the server's spec, numbered where two columns have the same."""
    seen: Counter[str] = Counter()
    names = []
    for spec in specs:
        seen[spec] += 1
        names.append(spec if seen[spec] == 1 else f"{spec}#{seen[spec]}")
    return names
