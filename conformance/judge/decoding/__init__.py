"""The judge of decoders: what a subject answered against what the Case expects.

``judge`` gives the verdict. ``changes``, ``column_values``, ``diff_lists`` and ``documents`` compare one floor each and
accept every permitted form of a value. ``alignment`` finds the partners of two lists; ``log_columns`` knows the types
of the Case's columns; ``exact_json`` reads JSON without rounding. ``signatures`` names classes of defects.
"""
