"""A tape: requests and answers in order, by channel. A recording run writes it, a judging run asks it.

Whatever a check asks of the world goes through :meth:`Tape.call`: the channel says whom (a connection, a server, a
program, the clock), the kind and the request say what. The tape keeps of a request a digest only, so that passwords in
statements stay out of it. A judging run must ask the same in the same order on each channel; where it asks something
else, the recording has no answer (:class:`NoAnswer`), and the check counts as not run.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections import Counter, defaultdict, deque
from hashlib import blake2b
from typing import TYPE_CHECKING, Final, Protocol

from conformance.servers.clock import REAL, Clock
from conformance.servers.errors import ServerError
from conformance.servers.recording.error_values import dump_error, load_error
from conformance.servers.recording.files import Entry, TapeContent, TapeWriter
from conformance.servers.recording.values import DamagedValue, Value, encode

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_SECRET: Final = 6  # letters of a password that is looked for; a shorter one would be found everywhere
_SHOWN: Final = 120


class NoAnswer(Exception):
    """The recording has no answer to what the check asks now. No check may take it for an error of a server."""

    exit_code = 3


class Unfinished(Protocol):
    """Something that has an answer which is not written yet."""

    def finish(self) -> None:
        """Write it."""


class Tape(ABC):
    """The common part of both kinds of tape: channels, secrets, and the running check (its number in the module)."""

    recording: bool

    def __init__(self) -> None:
        self.item = -1
        self._lock = threading.RLock()
        self._channels: Counter[str] = Counter()
        self._secrets: dict[bytes, bytes] = {}

    def begin(self, name: str, former: str = "") -> None:  # noqa: ARG002 - what the names are for differs
        """A check begins. ``former``: its name in older recordings."""
        with self._lock:
            self.item += 1
            self._channels.clear()

    def channel(self, what: str) -> str:
        """A new channel. Threads have names of their own, which the check gives them: their order differs."""
        with self._lock:
            name = f"{self.item}/{where()}{what}"
            self._channels[name] += 1
            return f"{name} {self._channels[name]}"

    def hide(self, secret: str) -> str:
        """Keep a password out of the recording; returns the word that stands for it."""
        with self._lock:
            word = f"<secret {len(self._secrets)}>"
            return self._secrets.setdefault(secret.encode(), word.encode()).decode()

    def _digest(self, request: Value) -> bytes:
        masked = replaced(request, self._secrets)
        data = masked if isinstance(masked, bytes) else encode(masked)
        return blake2b(data, digest_size=8).digest()

    @abstractmethod
    def call(self, channel: str, kind: str, request: Value, live: Callable[[], Value]) -> Value:
        """The answer to a request. ``live`` asks the world; only a recording run calls it.

        Errors of servers are answers too, and are raised.
        """


def replaced(value: Value, words: Mapping[bytes, bytes]) -> Value:
    """A value with other words in the places of some."""
    if not words:
        return value
    if isinstance(value, bytes):
        for word, other in words.items():
            value = value.replace(word, other)
        return value
    if isinstance(value, str):
        for word, other in words.items():
            value = value.replace(word.decode(), other.decode())
        return value
    if isinstance(value, dict):
        return {key: replaced(part, words) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [replaced(part, words) for part in value]
    return value


class TapedClock(Clock):
    """The clock of a run that is recorded, or of a recording, which does not pause."""

    def __init__(self, tape: Tape) -> None:
        self._tape = tape

    def monotonic(self) -> float:
        """Milliseconds are enough for deadlines."""
        channel = f"{self._tape.item}/{where()}clock"
        now = self._tape.call(channel, "now", None, lambda: round(REAL.monotonic(), 3))
        return now if isinstance(now, float) else 0.0

    def sleep(self, seconds: float) -> None:
        if self._tape.recording:
            REAL.sleep(seconds)


def where() -> str:
    """The name of this thread, as a part of a channel's name; nothing for the main thread."""
    thread = threading.current_thread()
    return "" if thread is threading.main_thread() else f"{thread.name}/"


class RecordingTape(Tape):
    """Writes down what the world answers."""

    recording = True

    def __init__(self, writer: TapeWriter) -> None:
        super().__init__()
        self._writer = writer
        self._open: list[Unfinished] = []

    def begin(self, name: str, former: str = "") -> None:
        super().begin(name, former)
        with self._lock:
            self._writer.item(name)

    def opened(self, stream: Unfinished) -> None:
        """Remember something that has to be finished at the end."""
        with self._lock:
            self._open.append(stream)

    def closed(self, stream: Unfinished) -> None:
        """Forget it."""
        with self._lock:
            self._open.remove(stream)

    def call(self, channel: str, kind: str, request: Value, live: Callable[[], Value]) -> Value:
        item = self.item
        try:
            value = live()
        except ServerError as error:
            self.put(item, channel, kind, request, {"error": dump_error(error)})
            raise
        self.put(item, channel, kind, request, {"value": value})
        return value

    def put(self, item: int, channel: str, kind: str, request: Value, answer: Value) -> None:
        """Write an answer. ``item``: the check that was running when the request was made."""
        with self._lock:
            stars = {secret: b"*" * len(secret) for secret in self._secrets if len(secret) >= _SECRET}
            self._writer.entry(Entry(item, channel, kind, self._digest(request), replaced(answer, stars)))

    def end(self, *, whole: bool) -> None:
        """Finish what is open, and close the file."""
        for stream in list(self._open):
            stream.finish()
        self._writer.close(whole=whole)


class ReplayTape(Tape):
    """Gives the answers of a recording. ``problem``: the first request of the running check that had no answer."""

    recording = False

    def __init__(self, content: TapeContent) -> None:
        super().__init__()
        self._content = content
        self._left: defaultdict[str, deque[Entry]] = defaultdict(deque)
        for entry in content.entries:
            self._left[entry.channel].append(entry)
        self.problem: str | None = None

    def begin(self, name: str, former: str = "") -> None:
        super().begin(name, former)
        self.problem = None
        items = self._content.items
        if self.item >= len(items) or items[self.item] not in (name, former):
            had = items[self.item] if self.item < len(items) else "nothing"
            self._unanswered(f"the check {name}: there it has {had}")

    def _unanswered(self, what: str) -> NoAnswer:
        message = f"the recording has no answer to {what}"
        self.problem = self.problem or message
        return NoAnswer(message)

    def call(self, channel: str, kind: str, request: Value, live: Callable[[], Value]) -> Value:
        del live
        with self._lock:
            answer = self.answer(channel, kind, request)
        match answer:
            case {"value": value}:
                return value
            case {"error": error}:
                try:
                    raised = load_error(error)
                except DamagedValue as damage:
                    raise self._unanswered(f"{kind} on {channel}: {damage}") from damage
                raise raised
        raise self._unanswered(f"{kind} on {channel}: expected a value or an error")

    def answer(self, channel: str, kind: str, request: Value) -> Value:
        """The recorded answer as it is on the tape."""
        with self._lock:
            left = self._left[channel]
            while left and left[0].item < self.item:  # of a check that asked less now than it did then
                left.popleft()
            shown = _shown(kind, request)
            if not left or left[0].item > self.item:
                raise self._unanswered(f"{shown} on {channel}: its answers end before")
            entry = left[0]
            if entry.kind != kind or entry.request != self._digest(request):
                raise self._unanswered(f"{shown} on {channel}: it answers another request there ({entry.kind})")
            left.popleft()
            return entry.answer

    def damaged(self, channel: str, what: str) -> NoAnswer:
        """An answer that ends too early, or is not what its kind says."""
        return self._unanswered(f"{what} on {channel}")


def _shown(kind: str, request: Value) -> str:
    text = request.decode("utf-8", "replace") if isinstance(request, bytes) else str(request)
    printable = "".join(letter if letter.isprintable() else " " for letter in text[: 2 * _SHOWN]).strip()
    return f"{kind} {printable[:_SHOWN]!r}"
