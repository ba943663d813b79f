"""NR4: a list of diffs may have any length.

The room logs updates with a hundred to a thousand diffs on a pair of servers. The other non-requirements permit
variations and have no room: tests of the kit prove that the judge demands none of them.
"""
