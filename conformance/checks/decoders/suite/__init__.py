"""The case suite for decoders: logs with names, the row changes in them, and why each matters.

``groups`` declares the Cases, ``record`` performs them on a real server and writes the archive beside this file, and
``load_suite`` reads the archive: that needs neither a server nor anything outside of the standard library.
"""

from conformance.checks.decoders.suite.archive import Suite, load_requirements, load_suite

__all__ = ["Suite", "load_requirements", "load_suite"]
