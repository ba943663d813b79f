"""Oracles: what must be equal on a sound server, whatever the workload was. Each gives problems, never findings."""
