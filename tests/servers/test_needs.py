"""What a system needs is looked for before anything is made."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tierlab import experiment
from tierlab.deploy.needs import check_needs
from tierlab.environments.capability import Capability, Probe
from tierlab.environments.images.image import PACKAGES
from tierlab.errors import UserError

ABLE = Probe(
    "qemu",
    frozenset(Capability),
    {},
    pus=frozenset({0, 1}),
    memory=8 << 30,
    nodes=frozenset({0}),
)
GUESTS = replace(ABLE, packages=frozenset(PACKAGES))


def system(**table: Any) -> experiment.System:
    return experiment.System.of(table)


def test_the_guests_image_has_what_rubbos_usually_runs_on() -> None:
    check_needs(system(workload="rubbos"), GUESTS)


@pytest.mark.parametrize(
    ("table", "missing"),
    [
        ({"workload": "rubis"}, r"system\.web\.server: .* qemu environment has no nginx;"),
        (
            {"workload": "rubbos", "db": {"server": "postgresql"}},
            r"system\.db\.server: .* has no postgresql; .* podman, docker or lxc\.$",
        ),
    ],
)
def test_what_the_guests_image_has_not_is_refused_in_a_sentence(
    table: dict[str, Any], missing: str
) -> None:
    with pytest.raises(UserError, match=missing):
        check_needs(system(**table), GUESTS)
    check_needs(system(**table), ABLE)
