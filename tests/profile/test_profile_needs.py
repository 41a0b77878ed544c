"""What a machine lacks for a profile is one sentence before the trial."""

from __future__ import annotations

import os
import warnings
from typing import Any

import pytest

from tierlab.errors import UserError
from tierlab.experiment import Experiment
from tierlab.experiment.profile import HARDWARE, Profile
from tierlab.machine.kernel_calls import PERF_TYPE_HARDWARE, PERF_TYPE_HW_CACHE
from tierlab.observe import profile_needs
from tierlab.observe.profile_needs import NUMBERS, check_profile, counted_of, events_of
from tierlab.servers import programs
from tierlab.servers.tomcat import Tomcat

FILE = {
    "experiment": {"name": "e"},
    "system": {"workload": "rubbos"},
    "load": {"users": 1},
}


def asked(**keys: Any) -> Profile:
    document = FILE | {"observe": {"profile": keys}}
    profile = Experiment.from_tables(document).trials()[0].observe.profile
    assert profile is not None
    return profile


def test_time_is_sampled_by_cycles_or_by_the_clock_that_it_is_named_after(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(profile_needs, "counts_cycles", lambda: True)
    assert events_of(asked()) == ("cycles",)
    monkeypatch.setattr(profile_needs, "counts_cycles", lambda: False)
    assert events_of(asked()) == ("cpu-clock",)
    assert events_of(asked(events=["page-faults"])) == ("page-faults",)


def lack(monkeypatch: pytest.MonkeyPatch, *kinds: int) -> None:
    """Have the processor count no event of these kinds, and all others."""

    def opened(kind: int, _: int) -> int:
        if kind in kinds:
            raise FileNotFoundError(2, "No such file or directory")
        return os.open(os.devnull, os.O_RDONLY)

    monkeypatch.setattr(profile_needs, "perf_event_open", opened)


def test_counters_that_are_not_there_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    lack(monkeypatch, PERF_TYPE_HARDWARE, PERF_TYPE_HW_CACHE)
    with pytest.raises(UserError, match=r"observe\.profile\.events: .* no LLC-load-misses"):
        check_profile(asked(events=["cpu-clock", "LLC-load-misses"]), "native", [])
    with pytest.raises(UserError, match=r"observe\.profile\.counted: .* no instructions"):
        check_profile(asked(counted=["instructions"]), "native", [])
    check_profile(asked(events=["cpu-clock"], counted=[]), "native", [])


def test_each_event_is_asked_for_and_one_that_the_processor_lacks_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """AMD's count cycles, but have no event for loads of the last cache."""
    lack(monkeypatch, PERF_TYPE_HW_CACHE)
    with pytest.raises(UserError, match=r"observe\.profile\.events: .* no LLC-load-misses"):
        check_profile(asked(events=["cycles", "LLC-load-misses"]), "native", [])
    with pytest.raises(UserError, match=r"observe\.profile\.counted: .* no dTLB-load-misses"):
        check_profile(asked(counted=["instructions", "dTLB-load-misses"]), "native", [])
    check_profile(asked(events=["cycles", "branch-misses"], counted=[]), "native", [])


def test_every_event_of_a_processors_has_numbers_of_its_own() -> None:
    assert set(NUMBERS) == set(HARDWARE)
    assert len(set(NUMBERS.values())) == len(HARDWARE)


def test_a_kernel_that_forbids_it_is_named_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: int, **__: bool) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(profile_needs, "perf_event_open", refused)
    with pytest.raises(UserError, match=r"Permission denied.*perf_event_paranoid=-1"):
        check_profile(asked(), "native", [])


def test_programs_that_are_missing_are_named_with_their_packages(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(programs, "locate", lambda _: None)
    with pytest.raises(UserError, match=r"'perf', 'jcmd' are.*linux-perf openjdk-17-jdk-headless"):
        check_profile(asked(), "native", [Tomcat])


def test_servers_on_another_machine_cannot_be_profiled() -> None:
    with pytest.raises(UserError, match="another machine"):
        check_profile(asked(), "vsphere", [])


@pytest.mark.parametrize(
    "keys", [{"events": []}, {"events": ["cycle"]}, {"rate": 0}, {"stacks": 1}, {"hz": 99}]
)
def test_keys_are_checked(keys: dict[str, Any]) -> None:
    with pytest.raises(UserError, match=r"observe\.profile"):
        asked(**keys)


def test_a_costly_profile_says_so_before_the_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(profile_needs, "counts_cycles", lambda: False)
    monkeypatch.setattr(profile_needs, "check_programs", lambda _: None)
    often = {"rate": 2500, "events": ["cpu-clock", "page-faults"], "counted": []}
    with pytest.warns(UserWarning, match=r"2500 samples .* cpu-clock, page-faults .* 4\.0%"):
        check_profile(asked(**often), "native", [])
    with pytest.warns(UserWarning, match=r"some 0\.1% .* counting events for each server some 5%"):
        check_profile(asked(), "native", [])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_profile(asked(counted=[]), "native", [])


def test_what_is_counted_is_what_can_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(profile_needs, "counts_cycles", lambda: True)
    assert counted_of(asked())[:2] == ("cycles", "instructions")
    monkeypatch.setattr(profile_needs, "counts_cycles", lambda: False)
    assert counted_of(asked()) == ("page-faults", "context-switches", "cpu-migrations")
    assert counted_of(asked(counted=[])) == ()
