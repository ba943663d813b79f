"""Fuzzing in binlog-lab: targets with invariants, the runner, campaigns against servers and third-party decoders."""
