"""The experiments as their manifests describe them: ``experiment.toml`` in each room of ``conformance/checks``."""
