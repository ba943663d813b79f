"""A one-shot command that prints dictionary information: ``python -m … stored_command FAULT FILE``."""

from __future__ import annotations

import sys

from conformance.data_files.whole_file import read_dictionary


def main(fault: str, path: str) -> int:
    """Print the array, whole or without its end; exit code 1 for damage."""
    problems: list[str] = []
    text = read_dictionary(path, problems.append)
    sys.stdout.buffer.write(text[: len(text) // 2] if fault == "cut_json" else text)
    sys.stdout.flush()
    sys.stderr.writelines(f"{problem}\n" for problem in problems)
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
