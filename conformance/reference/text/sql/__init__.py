"""Logs and their row changes as SQL for people: INSERT, UPDATE and DELETE instead of BINLOG statements."""
