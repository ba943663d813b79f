"""FR10, FR8, X1 and X2, and NF1 and NF2 of WL#4618: a real server from before the feature beside the one under test,
and row events as such a server writes them."""
