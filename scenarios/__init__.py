"""Scenario matrices of binlog-lab: a pure function for each scenario, spread by Spark or run in a loop."""
