"""The sql Case: statements, each with its node, its session and its allowed outcomes.

No model stands behind it: each statement has its allowed outcomes written down. A statement earns the verdict of the
first outcome that its answer fits, and ``otherwise`` if none does. An outcome that is known to be wrong can stand among
them with the id of its listed deviation (``requirements/deviations.toml``).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Final, Literal

from conformance.cases.update_case import CaseFrame
from conformance.verdict import Verdict

SOURCE: Final = "source"
REPLICA: Final = "replica"
MAIN: Final = "main"
VERDICTS: Final = (
    Verdict.PASS,
    Verdict.LENIENT,
    Verdict.INFO,
    Verdict.INCONCLUSIVE,
    Verdict.NOT_APPLICABLE,
    Verdict.DIFFERS,
    Verdict.FAIL,
)

Options = tuple[tuple[str, str | None], ...]
Rows = tuple[tuple[str | None, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One way in which a statement may end. Fields that are ``None`` or empty are not compared."""

    error: int | Literal["any"] | None = None  # None: it succeeds
    warnings: tuple[int, ...] | None = None  # all their numbers, in order
    notes: tuple[int, ...] = ()  # of these, the numbers that come with the level Note; the others come as Warning
    rows: Rows | None = None
    as_before: bool = False  # the same error, or the same rows, as the statement before it
    text: str = ""  # must occur in the error's message or in a warning
    form: str = ""  # of the logged update (``judge.forms``)
    verdict: Verdict = Verdict.PASS
    deviation: str = ""  # id of the listed deviation that this outcome shows


@dataclass(frozen=True, slots=True, kw_only=True)
class WarningText:
    """A whole text that a warning with this number may have."""

    number: int
    text: str
    verdict: Verdict = Verdict.PASS
    deviation: str = ""  # id of the listed deviation that this text shows


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlStatement:
    """One statement; or, with ``start``, a hard stop and a new start of its node with these options.

    The error of a start is the message number that ended it; its warnings are those of the error log. ``judges``: the
    requirement it is evidence for; set-up statements have none, and must succeed. ``about``: only warnings whose text
    contains this count. ``texts``: the permitted texts of warnings with their numbers, judged under the requirement
    ``judges_texts``; a missing warning is the outcomes' affair. ``fresh``: the statement sets everything that later
    statements depend on. So the Case means the same without the statements between the first fresh one and the last
    before another one. ``at_once``: on a replica, without waiting until it has everything that the source wrote; where
    that wait ends with a stop of the applier, its error is the answer, and the statement is not run.
    """

    sql: str = ""
    start: Options | None = None
    file: Options = ()  # of a start: options in its configuration file
    node: str = SOURCE
    session: str = MAIN
    judges: str = ""
    outcomes: tuple[Outcome, ...] = (Outcome(),)
    otherwise: Verdict = Verdict.FAIL
    about: str = ""
    judges_texts: str = ""
    texts: tuple[WarningText, ...] = ()
    fresh: bool = False
    at_once: bool = False
    note: str = ""

    @property
    def requirements(self) -> tuple[str, ...]:
        """The requirements that the Case is evidence for."""
        return tuple(name for name in (self.judges, self.judges_texts) if name)

    @property
    def deviations(self) -> set[str]:
        """Ids of the listed deviations that it may show."""
        ids = {outcome.deviation for outcome in self.outcomes} | {text.deviation for text in self.texts}
        return ids - {""}

    @property
    def text(self) -> str:
        """The statement, or the start with its options, as text for people."""
        if self.start is None:
            return self.sql
        words = [name if value is None else f"{name}={value}" for name, value in self.start]
        file = f" (file: {' '.join(self.file_lines)})" if self.file else ""
        return " ".join(["mysqld", *(f"--{word}" for word in words)]) + file

    @property
    def file_lines(self) -> list[str]:
        """The configuration file of a start."""
        return ["[mysqld]", *(name if value is None else f"{name}={value}" for name, value in self.file)]


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlCase(CaseFrame):
    """One scenario. Sessions open when they are first used, in a schema of the Case's own if ``schema`` is set.

    ``globals``: variables whose global values it changes; they are put back afterwards. ``accounts``: pairs of a
    session's label and the account it logs in as (without password; made by the Case, dropped afterwards).
    """

    kind: ClassVar[str] = "sql"

    schema: bool = False
    globals: tuple[str, ...] = ()
    accounts: tuple[tuple[str, str], ...] = ()
    statements: tuple[SqlStatement, ...]

    def shortened(self, index: int) -> SqlCase:
        """The Case up to a statement, without the statements that a fresh one makes superfluous."""
        fresh = [number for number, statement in enumerate(self.statements[: index + 1]) if statement.fresh]
        first, last = (fresh[0], fresh[-1]) if fresh else (0, 0)
        return replace(self, statements=self.statements[:first] + self.statements[last : index + 1])

    @property
    def has_replica(self) -> bool:
        """Whether the Case runs on a source and its replica."""
        return any(statement.node == REPLICA for statement in self.statements)

    @property
    def restarts(self) -> bool:
        """Whether the Case starts its server with options of its own."""
        return any(statement.start is not None for statement in self.statements)

    @property
    def needs_own_server(self) -> bool:
        """Whether the Case does what a guest must not do: change global values, make accounts, restart."""
        return bool(self.globals or self.accounts or self.restarts)


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlAnswer:
    """The answer of a server to one statement. ``form`` is read out of ``events`` (``judge.updates.forms``).

    ``bogus_log``: the server did not send the events, because it could not read them itself. ``notes``: the numbers of
    warnings that came with the level Note.
    """

    error: int | None = None
    message: str = ""
    warnings: tuple[tuple[int, str], ...] = ()
    notes: tuple[int, ...] = ()
    rows: Rows = ()
    events: tuple[bytes, ...] = ()
    bogus_log: bool = False
    form: str = ""
