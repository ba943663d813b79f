"""The matrices that the package brings along: TOML files, read by ``scenarios.matrix``."""
