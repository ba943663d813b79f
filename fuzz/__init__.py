"""Fuzzing: targets with their invariants, the runner, campaigns against servers and third-party decoders."""
