"""Conversations of clients with the lab's source, recorded so that a script can play them without the kit.

A client that connects has its log from a server, and asks that server for more: settings, tables. The lab's source
serves the Case once to the vendor's own client; the script then has the commands and answers, and a small player.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any, Final

from conformance.checks.decoders.accusations.vendors import source_of
from conformance.servers.source.login import NATIVE
from conformance.subjects.lab_source import LabSource
from conformance.subjects.source import SCHEMA

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from conformance.cases.decoder_case import DecoderCase

Talk = list[tuple[bytes, list[bytes]]]

_QUIT: Final = b"\x01"
_DUMPS: Final = (b"\x12", b"\x1e")
_REGISTER: Final = b"\x15"  # has the name of the machine, and needs no answer but OK


class Conversation:
    """How one vendor's client talks with a source. Its commands are learned from the client, and kept."""

    def __init__(self) -> None:
        self.commands: list[bytes] = []

    def recorded(self, case: DecoderCase, client: Callable[[list[str]], object]) -> list[str]:
        """The lines of a script that plays the source of a Case. ``client`` runs a script with the lines that it gets.

        Raises :class:`NotServed` if the source cannot serve the Case.
        """
        with LabSource(method=NATIVE, tls=False) as source:
            place, address = _serve(source, case)
            talk = source.record()
            client([f"SERVER = {address | place!r}"])
        learned = dict.fromkeys([*self.commands, *(command for command, _ in talk if command != _QUIT)])
        self.commands = sorted(learned, key=lambda command: command[:1] in _DUMPS)  # settings come before a dump
        return playing(talk, place)

    def foretold(self, case: DecoderCase) -> list[str]:
        """The same lines for another Case, by the commands that the client gave before. It may give others now."""
        with LabSource(method=NATIVE, tls=False) as source:
            place, _ = _serve(source, case)
            return playing(source.answers(self.commands), place)


def _serve(source: LabSource, case: DecoderCase) -> tuple[dict[str, Any], dict[str, Any]]:
    served = source.serve(case)
    request = source.request(served)
    place = {"file": served.start.file, "position": served.start.offset, "schema": SCHEMA, "columns": served.columns}
    return place, {key: request[key] for key in ("host", "port", "user", "password")}


def playing(talk: Talk, place: dict[str, Any]) -> list[str]:
    """The lines of a script that plays a conversation."""
    return [source_of("played_server"), "", "TALK = [", *_lines(talk), "]", f"SERVER = play(TALK, {place!r})"]


def _lines(talk: Iterable[tuple[bytes, list[bytes]]]) -> Iterable[str]:
    for command, packets in talk:
        if packets and command[:1] != _REGISTER:
            yield f"    ({command!r}, {[base64.b64encode(packet).decode() for packet in packets]!r}),"
