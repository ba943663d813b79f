"""F1: which type code an update has, above all in tables without a JSON column, which no other experiment updates.

The room updates such tables and ordinary ones, with the option on and off. The type codes are those that section 4 of
the worklog names; the rest of each event is held against the prediction, as in ``updates``.
"""
