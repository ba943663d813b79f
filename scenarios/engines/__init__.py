"""Engines define scenarios: modules with ``REVISION``, ``SETTINGS``, ``MEASURES``, ``BREAKS``, ``cost``, ``measure``.

``REVISION`` goes up whenever the same (matrix, cell, index) would give another scenario. ``SETTINGS`` maps the names
that axes and ranges may have to their allowed values. ``measure(draw, settings)`` runs one scenario and returns the
values of ``MEASURES`` in their order; the first value is the verdict. ``BREAKS`` names the requirement that a wrong
code breaks; other codes count against every requirement of the matrix.
"""
