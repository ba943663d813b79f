"""The meaning of ``--dialect V``: a dialect by its name, or by the version of a server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.user_errors import Usage

if TYPE_CHECKING:
    from conformance.reference.dialect import Dialect


def named_dialect(name: str) -> Dialect:
    """``mysql-9.7``, ``worklog``, ``9.7.4``, ``8.4`` (its last), ``8.0.36-28``."""
    from conformance.reference.dialect import DIALECTS

    if name in DIALECTS:
        return DIALECTS[name]
    from conformance.requirements.versions import dialect  # whose table takes longer to read than an update to predict

    try:
        return dialect(name)
    except ValueError as error:
        raise Usage(
            f"no dialect {name!r}: {error}", hint=f"known: a version such as 9.7.4, or {', '.join(DIALECTS)}"
        ) from error
