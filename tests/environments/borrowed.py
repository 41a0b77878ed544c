"""Environments that take long to make, lent to one test after the other."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest


@contextmanager
def borrowed(environment: Any) -> Iterator[None]:
    """Destroy afterwards what domains are made meanwhile."""
    create, domains = environment.create, []

    def recorded(spec: object) -> object:
        domains.append(create(spec))
        return domains[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(environment, "create", recorded)
        yield
    for domain in domains:
        domain.destroy()
