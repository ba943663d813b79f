"""A sound server under other settings, and accounts with fewer rights: what the kit says of each.

``python -m tests.settings`` makes the table of docs/reference/settings.md again, on real servers.
"""
