"""The experiments, one folder each: what it generates, how it runs and judges, and its checks (``check*.py``)."""
