"""The profiles of a run, and how much each check does in them, as the manifests of the experiments say.

A run reports its size before it loads the checks, so this module imports none of them.
"""

from __future__ import annotations

from typing import Final

from conformance.harness.experiments.manifests import all_facts, experiments

PROFILES: Final = experiments()["updates"].size
"""Generated updates of the update campaign, by profile."""

SIZES: Final = {
    f"{facts.id}/{name}" if name else facts.id: size for facts in all_facts() for name, size in facts.sizes.items()
}
"""Check id (with a name, where a check has several sizes) -> profile -> number."""
