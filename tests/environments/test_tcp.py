"""Connection requests that are dropped are sent again when the trial's TCP behaviour says so."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tierlab.environments.capability import Capability
from tierlab.environments.ledger import Ledger
from tierlab.environments.native import host_probe
from tierlab.environments.native.native import Native
from tierlab.environments.network import tcp
from tierlab.environments.network.tcp import BEHAVIOURS
from tierlab.environments.process import Process
from tierlab.errors import UserError

CLIENT = Path(__file__).with_name("retries.py")
SECONDS = 11

pytestmark = [
    pytest.mark.privileged,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root"),
]


@pytest.fixture
def environments(trial: str, traces: object) -> Iterator[dict[str, Native]]:  # noqa: ARG001
    if (reason := Native.probe().cannot.get(Capability.RETRIES)) is not None:
        pytest.skip(f"declared: {reason}")
    made: dict[str, Native] = {}
    try:
        for name, behaviour in BEHAVIOURS.items():
            made[name] = Native(Ledger(f"{trial}-{name}"), tcp=behaviour)
        yield made
    finally:
        for environment in made.values():
            environment.destroy()


def start(environment: Native, folder: Path) -> Process:
    log = folder / f"{environment.trial}.log"
    return environment.spawn([sys.executable, str(CLIENT), str(SECONDS)], log=log)


def retries(process: Process) -> list[float]:
    assert process.stdout is not None
    with process.stdout as output:
        return list(json.loads(output.read()))


def test_a_request_is_repeated_after_3_and_9_seconds_where_it_is_classic(
    environments: dict[str, Native], tmp_path: Path
) -> None:
    """Side by side; the kernel's timers may be late, on a busy machine above all, never early."""
    started = {name: start(each, tmp_path) for name, each in environments.items()}
    seen = {name: retries(process) for name, process in started.items()}

    first, second = seen["classic"]
    assert 3 <= first < 4
    assert 9 <= second < 11
    assert 1 <= seen["modern"][0] < 2
    assert len(seen["modern"]) > len(seen["classic"])


def test_sysctls_are_the_trials_own(environments: dict[str, Native]) -> None:
    name = "net/ipv4/tcp_syncookies"
    host = Path("/proc/sys", name).read_text()
    domainless = environments["classic"].spawn(["cat", f"/proc/sys/{name}"], log=Path(os.devnull))

    assert domainless.stdout is not None
    with domainless.stdout as output:
        assert output.read() == b"0\n"
    assert Path("/proc/sys", name).read_text() == host


def test_where_it_cannot_be_had_it_is_refused_in_a_sentence_and_leaves_nothing(
    trial: str,
    traces: object,  # noqa: ARG001 - looks for what is left
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(host_probe, "obstacle", lambda _: "no such tree is mounted")

    with pytest.raises(UserError) as raised:
        Native(Ledger(trial), tcp=tcp.BEHAVIOURS["classic"])

    assert str(raised.value) == (
        "system.tcp: the native environment cannot say when TCP repeats a connection request here,"
        " because no such tree is mounted; do without it, or see in 'tierlab doctor' what this"
        " machine lacks."
    )
    assert Native.probe().can.isdisjoint({Capability.RETRIES})
