"""FR8: with the option off the binary log is as before the feature; FR9: the option's type can grow new members.

The room runs the same workload with the option off and on, and sets the option to lists with unknown members.
"""
