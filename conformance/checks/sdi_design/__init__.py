"""WL#7053 as it was designed: the API, its transactions, and the guarantee of a readable copy after a crash.

The subject is the kit's model of the worklog (``conformance.reference.innodb.sdi_design``): no released server has the
two copies, the flush before a commit, or most of the calls.
"""
