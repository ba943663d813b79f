"""Engines define scenarios: modules with ``REVISION``, ``SETTINGS``, ``MEASURES``, ``cost`` and ``measure``.

``REVISION`` goes up whenever the same (matrix, cell, index) would give another scenario. ``SETTINGS`` maps the names
that axes and ranges may have to their allowed values. ``measure(draw, settings)`` runs one scenario and returns the
values of ``MEASURES`` in their order; the first value is the verdict.
"""
