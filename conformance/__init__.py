import os

if os.environ.get("BINLOG_LAB_PURE", "0") != "0":
    from conformance.builds import take_sources

    take_sources()
