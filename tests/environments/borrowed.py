"""Environments that take long to make, lent to one test after the other."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Traces, host
from tierlab.environments.ledger import Ledger
from tierlab.environments.native.host import HostEnvironment


@contextmanager
def lasting(kind: type[HostEnvironment], ledger_folder: Path) -> Iterator[HostEnvironment]:
    """Have an environment for more than one test, which leaves nothing in the end."""
    trial = f"test{os.getpid()}-{kind.name}"
    traces = Traces(trial, ledger_folder)
    before, made = host(), kind(Ledger(trial, ledger_folder))
    try:
        yield made
    finally:
        made.destroy()
    assert traces.none(), traces.found()
    assert not (changed := host().unlike(before)), changed


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
