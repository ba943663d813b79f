"""The seven conditions for diffs in the log (WL#2955), also for tables with other features (D10, D11, FR2)."""
