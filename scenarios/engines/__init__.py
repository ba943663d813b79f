"""What a scenario does. An engine is a module with ``REVISION``, ``SETTINGS``, ``MEASURES``, ``cost`` and ``measure``.

``REVISION`` goes up whenever the same (matrix, cell, index) would give another scenario; ``SETTINGS`` maps the names
that axes and ranges may have to the values they take; ``measure(draw, settings)`` runs one scenario and answers the
values of ``MEASURES`` in their order, the first of which is the verdict.
"""
