"""A real server from before the feature beside the one under test: FR10, FR8, X1, X2, and NF1 and NF2 of WL#4618.

The room also builds row events as such a server writes them.
"""
