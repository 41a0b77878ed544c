"""What tests of containers share."""

from __future__ import annotations

import pytest

from tierlab.environments.podman import Podman
from tierlab.errors import UserError


@pytest.fixture
def containers() -> None:
    """Where none can be made, the test is skipped with the reason."""
    try:
        Podman.probe()
    except UserError as refusal:
        pytest.skip(str(refusal))
