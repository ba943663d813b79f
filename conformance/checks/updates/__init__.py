"""The main job: generated updates on one server, predicted and compared byte for byte (FR1, FR2, D2-D7, F3, IP1, IP2).

Its parts have the same name in each layer. :mod:`generators.updates` draws the updates and
:mod:`conformance.cases.predict` says what they write. :mod:`conformance.harness.updates` runs them in blocks on a
server, in workers or from a recording, and :mod:`conformance.judge.updates` compares. The checks here and
:mod:`scenarios.updates` (Spark) drive these.
"""
