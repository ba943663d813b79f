"""Work with binary logs, without a command line: reading, filtering, following, printing, replaying, rewriting."""
