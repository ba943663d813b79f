"""A decoder as a target: the fuzzer's bytes make logs, and its row changes are held against those in them."""

from __future__ import annotations

import hashlib
import os
import sys
from collections import Counter
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from conformance.subjects import python_host
from conformance.subjects.place import MODULES
from conformance.subjects.specs import BUILTIN, builtin_clients, open_in_process, open_subject, parse_subject
from fuzz.peers.comparison.vendor_lines import lines_of
from fuzz.peers.subjects.defects import defects_of
from fuzz.peers.subjects.inputs import input_of
from fuzz.violation import PeerDefect, together

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

    from conformance.subjects.answers import Hello, Subject
    from conformance.subjects.in_process import InProcess
    from conformance.subjects.place import Place
    from conformance.subjects.specs import SubjectSpec
    from fuzz.peers.comparison.vendor_lines import Lines
    from fuzz.peers.subjects.inputs import Input

SECONDS: Final = "10"  # for one answer
_LAB: Final = frozenset(("conformance", "fuzz", "generators", "scenarios"))
_TRIES: Final = 5  # of a rule that no subject shows which has read nothing before
_MANY: Final = 24  # transactions of one log, for a decoder whose every request costs
_WRITER: Final = ("fuzz.sound", "fuzz.peers", "generators")  # whose coverage leads the search where nothing else does


class SubjectTarget:
    """A subject with the interface of ``fuzz.targets``. ``place``: where it was started; ``damages``: whether some logs
    are damaged, which takes a reader of files.
    """

    INVARIANT: Final = "Row changes of a log come all, in order, and with their values; damage is not passed over."
    COMPARISONS: Final = False
    DICTIONARY: Final[tuple[bytes, ...]] = ()

    def __init__(self, spec: str, place: Place, *, damages: bool) -> None:
        self._spec = _prepared(parse_subject(spec))
        self._place = place
        self._damages = damages
        self.APART = self._spec.kind != "py"
        self.MAX_LEN = 2048 if self.APART else 512
        self._most = _MANY if self.APART else 1
        self._subject: Subject | None = None
        self._object: InProcess | None = None
        self._hello: Hello | None = None
        self._logs = Path()
        self._number = 0
        self._afresh: set[str] = set()  # rules that a subject showed which had read nothing before
        self._tries: Counter[str] = Counter()
        self._explained: set[str] = set()  # rules of logs whose transactions show something alone

    @cached_property
    def INSTRUMENT(self) -> tuple[str, ...]:  # noqa: N802 - a name of the interface
        """The packages of a Python object; else those of the logs' writer."""
        return (*self._packages, "fuzz.sound") if self._packages else _WRITER

    @property
    def CODE(self) -> tuple[str, ...]:  # noqa: N802 - a name of the interface
        """The packages of a Python object. The code of another decoder runs where no lines are counted."""
        return self._packages

    @cached_property
    def _packages(self) -> tuple[str, ...]:
        if self.APART:
            return ()
        with self._place.entered():
            return packages_of(python_host.module_of(self._spec.target))

    def begin(self) -> None:
        """Open the subject where it was started; its logs go to the directory in which this process was started."""
        self._logs = Path.cwd()
        if self._place.folder:
            os.chdir(self._place.folder)
        if self._place.modules:
            os.environ[MODULES] = os.pathsep.join(filter(None, (self._place.modules, os.environ.get(MODULES, ""))))
            sys.path[:0] = self._place.modules.split(os.pathsep)
        self._open()

    def _open(self) -> None:
        if self._subject is not None:
            self._subject.close()
        if self.APART:
            self._subject = open_subject(self._spec)
        else:
            self._subject = self._object = open_in_process(self._spec)
        self._hello = self._subject.hello()

    def check(self, data: bytes) -> None:
        """Check the answer to the log that these bytes stand for.

        What a log of several transactions shows is looked for in each of them alone: one defect hides others, and what
        comes behind it may be its consequence. It is a finding of its own only where none of them shows anything.
        """
        given = self._input(data)
        found = self._defects(given)
        rules = {defect.rule for defect in found}
        if not rules - self._explained:
            return
        alone = [defect.shown_by(part) for part in given.parts for defect in self._defects(self._input(part))]
        found = [defect for defect in alone or found if self._shows_afresh(defect, data)]
        if alone and found:
            self._explained |= rules
        if found:
            raise together(found)

    def _shows_afresh(self, defect: PeerDefect, data: bytes) -> bool:
        """Whether a subject that has read nothing before shows a defect, too: an input is a finding by itself alone.

        A subject in this process is asked again in a process of its own, when its finding is confirmed.
        """
        if self.APART and defect.rule not in self._afresh and self._tries[defect.rule] < _TRIES:
            self._tries[defect.rule] += 1
            self._open()
            again = self._defects(self._input(data if defect.data is None else defect.data))
            self._afresh |= {one.rule for one in again}
        return not self.APART or defect.rule in self._afresh

    def _defects(self, given: Input) -> list[PeerDefect]:
        assert self._subject is not None
        assert self._hello is not None
        self._number += 1  # a name of its own: a decoder may keep what it has read of a file
        log = self._logs / f"log-{os.getpid()}-{self._number}.binlog"
        log.write_bytes(given.case.log)
        try:
            answer = self._subject.decode(given.case, str(log))
        finally:
            log.unlink(missing_ok=True)
        raised = None if self._object is None else self._object.raised
        return defects_of(given, self._hello.capabilities, answer, raised, self._packages)

    def vendor_lines(self, log: bytes, file: str) -> Lines:
        """The lines with which the subject's vendor reads a log."""
        return lines_of(self._spec).of(log, file)

    def log_of(self, data: bytes) -> bytes:
        """The log that these bytes stand for."""
        return self._input(data).case.log

    def _input(self, data: bytes) -> Input:
        return input_of(data, damages=self._damages, most=self._most)

    def seeds(self) -> Iterator[tuple[str, bytes]]:
        """Decisions at random: each kind of log several times."""
        yield "simplest", b""
        for number in range(120 if self._most == 1 else 60):
            size = min(self.MAX_LEN, (40 + number % 7 * 40) * (1 + self._most // 6))
            yield f"random-{number}", hashlib.shake_128(b"%d" % number).digest(size)


def _prepared(spec: SubjectSpec) -> SubjectSpec:
    """The spec with a time for one answer; a client connects to the lab's own source."""
    if spec.kind == "wire" or (spec.kind == BUILTIN and spec.target in builtin_clients()):
        spec = replace(spec, options={"source": "lab", **spec.options})
    return spec if spec.kind == BUILTIN else replace(spec, options={"timeout": SECONDS, **spec.options})


def packages_of(module: ModuleType) -> tuple[str, ...]:
    """The packages whose coverage leads the search: the module itself, and those that it works with.

    Modules in the same folder are its own, and what they work with counts too.
    """
    found = {module.__name__: None}
    front = [module]
    while front:
        names = _named_in(front.pop()) - found.keys()
        found |= dict.fromkeys(sorted(names))
        front += [sys.modules[name] for name in names if _folder(sys.modules.get(name)) == _folder(module)]
    return tuple(found)


def _folder(module: ModuleType | None) -> Path | None:
    place = getattr(module, "__file__", None)
    return Path(place).parent if place else None


def _named_in(module: ModuleType) -> set[str]:
    """The top packages of what a module has names for, without Python's own and the lab's."""
    names = (_home(value) for value in vars(module).values())
    roots = {name.partition(".")[0] for name in names if name}
    return {root for root in roots if root not in sys.stdlib_module_names and root not in _LAB and root != "__main__"}


def _home(value: Any) -> str:
    """The module that a value is, or comes from."""
    name = getattr(value, "__name__", "") if isinstance(value, type(sys)) else getattr(value, "__module__", "")
    return name if isinstance(name, str) else ""
