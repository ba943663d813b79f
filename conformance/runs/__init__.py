"""Runs that a command starts from several packages: stored Cases again, the suite's export, the lab as a source."""
