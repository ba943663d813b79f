"""Settings for all tests: Hypothesis profiles (fuzzing sheet, section 5).

``dev`` is the default on a desk, ``ci`` where the variable CI is set, ``nightly`` for long searches;
``HYPOTHESIS_PROFILE`` overrides. No deadline anywhere: a slow machine is not a failure.
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

settings.register_profile("dev", max_examples=100, deadline=None)
settings.register_profile(
    "ci", max_examples=300, deadline=None, derandomize=True, database=None, print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)  # fmt: skip
settings.register_profile(
    "nightly", max_examples=20_000, deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "dev"))
