"""One run of mysqlbinlog on a file that may crash or hang it, under limits of time and memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.servers.child_process import Limits

if TYPE_CHECKING:
    from conformance.servers.programs import Program

# CPU time decides what a hang is, as a busy machine makes everything slow; a program that only waits is ended too.
PROCESSOR_SECONDS: Final = 10
PATIENCE: Final = 120.0  # seconds for one file by the clock
_ADDRESS_SPACE: Final = 8 << 30  # bytes; the kernel refuses more, and the refusal shows what the program wanted
_FILE: Final = "damaged.binlog"
_WORDS: Final = ("--no-defaults", "-v", "--base64-output=decode-rows", "--local-load=.", _FILE)


class ClientEnd(NamedTuple):
    """How a client program ended. ``peak``: the most memory it used, in bytes; 0 where it is not known (a container).

    ``status``: negative for a signal, ``None`` if the lab ended the program because it took too long. ``errors``: what
    stands in its standard error.
    """

    status: int | None
    text: bytes
    peak: int
    errors: bytes = b""


def print_bytes(program: Program, data: bytes, *, patience: float = PATIENCE) -> ClientEnd:
    """Run ``mysqlbinlog -v`` on a file with these bytes."""
    end = program.run(_WORDS, files={_FILE: data}, timeout=patience, limits=Limits(PROCESSOR_SECONDS, _ADDRESS_SPACE))
    return ClientEnd(end.returncode, end.stdout, end.peak, end.stderr)
