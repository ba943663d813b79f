"""Differential targets against other people's decoders: their defects are findings, never failures of ours.

They have the interface of ``fuzz.targets`` and name the required ``PACKAGE``. Without the package they can be loaded,
and their checks say what to install. They compare only events that a server could have written: the decoders' treatment
of damaged bytes is their authors' decision.
"""
