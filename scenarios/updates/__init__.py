"""The update campaign of ``conformance`` on Spark: each worker runs blocks on a private server of its own."""
