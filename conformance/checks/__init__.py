"""The experiments, one folder each: what it generates, how it runs and judges, its checks (``check*.py``), and its
manifest (``experiment.toml``), which has all facts of them."""
