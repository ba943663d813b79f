"""Differential targets against other people's decoders: their defects are findings, never failures of ours.

They have the shape of ``fuzz.targets`` and name the ``PACKAGE`` that is needed; without it they can be loaded, and
their checks say what to install. Only what a server could have written is compared: what somebody makes of damaged
bytes is their own matter.
"""
