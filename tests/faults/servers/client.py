"""The mysqlbinlog of a faulty server: ``client.py ROOT FAULT PROGRAM ARGUMENT...`` runs the sound one, and alters its
standard output as the fault says. Whoever calls it may stand in any folder."""

from __future__ import annotations

import subprocess
import sys


def main(root: str, name: str, *command: str) -> int:
    """Run it; the exit status is the program's."""
    sys.path[:1] = [root]
    from tests.faults.servers.catalogue import SERVER_FAULTS

    change = next(fault.change["printed"] for fault in SERVER_FAULTS if fault.id == name)
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    sys.stdout.buffer.write(change(done.stdout))
    sys.stdout.flush()
    return done.returncode if done.returncode >= 0 else 128 - done.returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
