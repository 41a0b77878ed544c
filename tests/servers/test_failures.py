"""Real servers that fail, in every step and way: one sentence, and nothing left."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from itertools import cycle

import pytest
from talk import STEPS, nothing, running

from tierlab.deploy.system import System
from tierlab.environments.native.native import Native
from tierlab.errors import UserError

pytestmark = [pytest.mark.privileged, pytest.mark.slow]

Build = Callable[..., System]
ENDINGS = (RuntimeError, KeyboardInterrupt)


@pytest.mark.parametrize(("step", "error"), list(zip(STEPS, cycle(ENDINGS), strict=False)))
def test_nothing_is_left_after_an_exception_in_any_step(
    build: Build, native: Native, step: str, error: type[BaseException]
) -> None:
    system = build()

    def interrupt(name: str) -> None:
        if name == step:
            raise error(name)

    with pytest.raises(error):
        system.start(interrupt)
    system.stop()
    native.destroy()  # the fixture `traces` looks afterwards


def test_a_difference_in_placement_is_a_sentence_and_so_is_a_dead_server(build: Build) -> None:
    """Placement is read back; of a server that died its log's end is shown."""
    pu = max(os.sched_getaffinity(0))
    system = build(
        app={"mapping": {"pus": [pu], "weight": 512}, "memory": "768MiB"},
    )
    system.start(nothing)
    app = running(system, "app.1")
    assert (app.found.pus, app.found.weight) == (frozenset({pu}), 512)
    assert app.found.memory == 768 << 20
    assert running(system, "web.1").found.memory is None
    system.check()
    (app.cgroups["cpu"] / "cpu.shares").write_text("2048")
    with pytest.raises(UserError, match=r"app\.1: .*weight 512 asked, 2048 found"):
        system.check()
    (app.cgroups["cpu"] / "cpu.shares").write_text("512")
    (pid,) = running(system, "db.1").pids
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(UserError, match=r"db\.1 \(mariadb\) was killed by signal 9.*ready for con"):
        check_for_a_while(system)


def check_for_a_while(system: System) -> None:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        system.check()
        time.sleep(0.05)


def test_a_server_that_does_not_start_shows_the_end_of_its_own_log(build: Build) -> None:
    # A heap that this machine cannot hold: the JVM says so itself.
    system = build(app={"heap": "900GiB"})
    with pytest.raises(
        UserError, match=r"app\.1: tomcat did not start: .*log ends: .*insufficient memory"
    ):
        system.start(nothing)


def test_a_taken_port_is_a_sentence(build: Build, native: Native) -> None:
    with native._socket() as listening:
        listening.bind(("127.0.3.1", 3306))
        listening.listen()
        with pytest.raises(UserError, match=r"lb\.1: 127\.0\.3\.1:3306 is taken by another progr"):
            build().start(nothing)


@pytest.mark.parametrize(
    ("tier", "sentence"),
    [
        ("db", r"db\.1: max_connections 100000 asked, \d+ in force; the limit of open files"),
        ("lb", r"lb\.1: haproxy did not start: .*limit"),
    ],
)
def test_connections_beyond_the_limit_of_open_files_are_not_granted_in_silence(
    build: Build, tier: str, sentence: str
) -> None:
    system = build(**{tier: {"soft": {"max_connections": 100_000}}})
    with pytest.raises(UserError, match=sentence):
        system.start(nothing)
