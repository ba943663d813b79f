"""The command line: one module a subcommand, and the pytest plugin."""
