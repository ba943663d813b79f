"""Binary logs as events and as row changes, for programs that import the kit."""
