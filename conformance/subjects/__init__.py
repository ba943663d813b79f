"""Subjects: other people's decoders, driven through adapters.

A subject is a one-shot command, a conversation in JSON lines, a Python object, or a client that connects as a replica.
Whatever the way, an answer has one of the forms of :mod:`conformance.subjects.answers`.
"""
