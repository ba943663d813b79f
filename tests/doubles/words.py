"""The words of a double: statements in those of its version, refusals, names of variables, and its version."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from tests.faults.servers.packets import Answer

if TYPE_CHECKING:
    from tests.doubles.lacking import Lacking

_UNKNOWN_VARIABLE: Final = 1193
_NOTHING: Final = "DO 0"  # goes to the server in the place of what the double answers itself: queries are counted
_ASSIGNED: Final = re.compile(
    r"(?:\bSET\s+|,\s*)(?:@@)?(?:(?:GLOBAL|SESSION|PERSIST|PERSIST_ONLY|LOCAL)(?:\s+|\.))?(\w+)\s*:?=", re.IGNORECASE
)
_READ: Final = re.compile(r"@@(?:(?:global|session|local|persist|persist_only)\.)?(\w+)", re.IGNORECASE)
_SHOW: Final = re.compile(r"\s*SHOW\s+(?:GLOBAL\s+|SESSION\s+)?VARIABLES\s+LIKE\s+'([\w%]+)'\s*\Z", re.IGNORECASE)
_STRINGS: Final = re.compile(r"""'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*\"""", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Words:
    """The words of one double. ``real``: the version of the server behind it."""

    lacks: Lacking
    real: str

    def error(self, statement: str) -> tuple[int, str, str] | None:
        """The error that the version gives for this statement although 9.7.4 takes it."""
        for refusal in self.lacks.refusals:
            if (error := refusal.of(statement)) is not None:
                return error
        for name in self._named(statement):
            if name.lower() in self.lacks.variables:
                return _UNKNOWN_VARIABLE, "HY000", f"Unknown system variable '{name}'"
        return None

    def _named(self, statement: str) -> list[str]:
        """The system variables that a statement reads or sets."""
        bare = _STRINGS.sub("''", statement)
        found = _READ.findall(bare)
        if bare.lstrip()[:3].upper() == "SET":
            found += _ASSIGNED.findall(bare)
        return found

    def sent(self, statement: str) -> str:
        """The statement as the server behind the double understands it."""
        if self.error(statement) is not None:
            return _NOTHING
        for pattern, words in self.lacks.words:
            if (found := pattern.match(statement)) is not None:
                return f"{found['before']}{words}{statement[found.end() :]}"
        return statement

    def answered(self, statement: str, answer: Answer) -> Answer:
        """The answer as the version gives it."""
        if (error := self.error(statement)) is not None:
            return Answer(error=error)
        if answer.columns and answer.columns[0].lower() == "variable_name":
            return self._variables(statement, answer)
        if any(self.real.encode() in row for row in answer.rows):
            return replace(answer, rows=tuple(tuple(map(self._cell, row)) for row in answer.rows))
        return answer

    def _variables(self, statement: str, answer: Answer) -> Answer:
        """A list of variables: without those that came later, with those that are gone by 9.7.4."""
        lacks = self.lacks.variables
        rows = [tuple(map(self._cell, row)) for row in answer.rows if (row[0] or b"").decode().lower() not in lacks]
        found = _SHOW.match(statement)
        if found is not None:
            wanted = re.compile(found[1].replace("%", ".*"))
            gone = self.lacks.gone.items()
            rows += [(name.encode(), value.encode()) for name, value in gone if wanted.fullmatch(name)]
        return replace(answer, rows=tuple(rows))

    def _cell(self, value: bytes | None) -> bytes | None:
        return self.lacks.version.encode() if value == self.real.encode() else value
