"""The matrices that the package contains: TOML files that ``scenarios.matrix`` reads."""
