"""Logs and events that a server could have written, made from a fuzzer's bytes.

The bytes are the decisions of a generator: any input gives a sound log, and a smaller input a simpler one. A peer is
held to nothing else: its treatment of damage is its authors' decision.
"""
