"""``python -m conformance`` is the same as ``binlog-lab``."""

from __future__ import annotations

from conformance.cli.main import main

if __name__ == "__main__":
    main()
