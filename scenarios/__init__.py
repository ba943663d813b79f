"""Scenario matrices: a pure function for each scenario, spread by Spark or run in a loop, with budgets and reports."""
