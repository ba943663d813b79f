"""Every listed deviation is shown by its witness Case, in every run."""
