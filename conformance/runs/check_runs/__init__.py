"""A run of the checks under pytest: which checks, side by side or not, how each ends, what the run says of itself."""
