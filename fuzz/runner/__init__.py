"""The runner: each target in a process of its own, findings distinguished by signature, stored and shrunk."""
