"""``explain REQ`` and ``explain DEVIATION``: a row of the catalogue, or of the list of deviations, in words."""
