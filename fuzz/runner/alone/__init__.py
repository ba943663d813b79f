"""Runs of single inputs without the fuzzer: their outcome again, and the smallest input with the same outcome."""
