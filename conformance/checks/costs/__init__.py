"""Costs of the feature: allocations (FR14, C1), instructions (FR15), redo (FR6.2), sizes (FR11 to FR13)."""
