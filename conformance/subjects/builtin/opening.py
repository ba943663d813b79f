"""Opening a built-in subject: its adapter as a conversation, or the function that its entry names."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Final, cast

from conformance.subjects.answers import SubjectUnavailable
from conformance.subjects.builtin.catalogue import entry
from conformance.subjects.builtin.install import check_needs, installed
from conformance.subjects.child import Limits
from conformance.subjects.conversation import Conversation
from conformance.subjects.stream import SOURCES, Stream

if TYPE_CHECKING:
    from conformance.subjects.answers import Subject

# Adapters that read a file of 4 GiB in Python take half a minute for it.
_LIMITS: Final = Limits(request=60.0)


def open_subject(name: str, *, source: str = "") -> Subject:
    """The subject, ready to be asked; ``source``: what a client connects to.

    Raises :class:`SubjectUnavailable` if it is not installed or cannot run here.
    """
    found = entry(name)
    check_needs(found)
    there = installed(name)
    if there is None:
        raise SubjectUnavailable(f"{name} {found.version} is not in the cache; binlog-lab subjects install {name}")
    if not found.opener:
        if found.reads == "server":
            return Stream(there.command(), name=name, limits=_LIMITS, open_source=SOURCES[source])
        return Conversation(there.command(), name=name, limits=_LIMITS)
    module, _, function = found.opener.partition(":")
    return cast("Subject", getattr(importlib.import_module(module), function)(there))
