"""InnoDB's undo log: what it keeps of the past of a row.

``log`` undo tablespaces, rollback segments, undo segments and logs, and where a roll pointer leads; ``record`` one undo
record; ``row_versions`` every older version of a row, from its clustered record and the undo log; ``past_values`` the
off-page values of older versions.
"""
