"""The runner: each target in a process of its own, findings told apart by signature, stored and made small."""
