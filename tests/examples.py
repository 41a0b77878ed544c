"""How Hypothesis looks for examples: however long each of them takes.

By default one that takes over 200 ms is a failure: a machine that others use may take that long at
any moment.
"""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile(
    "a shared machine",
    settings.default,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("a shared machine")
