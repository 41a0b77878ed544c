"""Why this machine does not have an environment, for what is tested in it."""

from __future__ import annotations

import os

import pytest

from tierlab.environments.capability import Capability
from tierlab.environments.kinds import KINDS
from tierlab.errors import UserError


def obstacle(environment: str, *needed: Capability) -> str | None:
    """The reason, where it does not, or not with all that is needed of it; None where it does."""
    if os.geteuid() != 0:
        return "needs root"
    try:
        probe = KINDS[environment].probe()
    except UserError as refusal:
        return str(refusal)
    return next((probe.cannot[each] for each in needed if each in probe.cannot), None)


def needs(environment: str, *needed: Capability) -> pytest.MarkDecorator:
    """Skip a module's tests where there is an obstacle."""
    reason = obstacle(environment, *needed)
    return pytest.mark.skipif(reason is not None, reason=str(reason))
