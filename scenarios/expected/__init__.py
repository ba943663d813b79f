"""Numbers and sizes that a scenario's statement must give: of diffs, images and events, by small arithmetic.

The rules are those of docs/spec (jsonb 1 and 2, partial-update 2 to 5, binlog-events 9 to 11). They are written once
more, for the documents and statements of the matrices. Nothing here calls the reference, which the budgets judge:
statements come as the plain data of their paths and values.
"""
