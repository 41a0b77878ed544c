"""When users ask: think times, starts, phases, open-loop arrivals, and the driver's own lag."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from tests.pace import pace
from tierlab.workloads.own.pages import following
from tierlab.workloads.rubbos.users import users

from .driving import MILLISECOND, POPULATION, RAMP_UP, SECOND, Driver
from .test_drive_failures import OK, sends, serving


def think_times(requests: pd.DataFrame) -> np.ndarray:
    """Milliseconds from the end of each user's interactions to the next one's intended start."""
    ordered = requests.sort_values(["user", "start_ns"])
    ended, intended = ordered.end_ns.to_numpy(), ordered.intended_ns.to_numpy()
    same = ordered.user.to_numpy()[1:] == ordered.user.to_numpy()[:-1]
    return (intended[1:] - ended[:-1])[same] / MILLISECOND


def share(expected: float, of: int) -> Any:
    """Compares with a share of so many as it is by chance: five standard errors."""
    assert of > 100
    return pytest.approx(expected, abs=5 * np.sqrt(expected * (1 - expected) / of))


def test_think_time_is_exponential(site, drive: Driver) -> None:
    driven = drive(site(), seconds=2, think_ms=100, users=400)
    # Thinks that had not ended with the run are missing, the long ones rather than the short:
    # take the first of each user only, which all had time to end (20 means).
    requests = driven.requests.sort_values(["user", "start_ns"])
    first = requests.groupby("user").head(3)
    thinks = think_times(first)
    assert len(thinks) > 700
    assert stats.kstest(thinks, stats.expon(scale=100).cdf).pvalue > 1e-4


def test_think_time_has_a_cap(site, drive: Driver) -> None:
    loop = {"mode": "closed", "think_ns": 20 * MILLISECOND, "think_cap_ns": 30 * MILLISECOND}
    thinks = think_times(drive(site(), loop=loop).requests)
    # The two ends are read from two clocks, a microsecond or so apart, or more now and then where
    # others take the core in between.
    assert np.quantile(thinks, 0.99) == pytest.approx(30, abs=0.02)
    assert np.mean(thinks > 29.98) == share(np.exp(-1.5), len(thinks))


def test_over_the_cap_the_published_client_does_not_think(site, drive: Driver) -> None:
    loop = {"mode": "closed", "think_ns": 20 * MILLISECOND, "think_cap_ns": 30 * MILLISECOND}
    workload = users("user", "published", POPULATION)
    thinks = think_times(drive(site(), workload, loop=loop).requests)
    assert np.quantile(thinks, 0.99) <= 30.02
    # Who does not think asks again at once: within 20 us on a quick machine, 100 on a slow one. A
    # hundredth of those who think do so for less than 0.2 ms.
    at_once = np.exp(-1.5) - np.expm1(-0.2 / 20)
    assert np.mean(thinks < 0.2) == share(at_once, len(thinks))


def test_a_request_ends_with_its_last_byte_and_not_when_the_driver_has_seen_to_it(
    drive: Driver,
) -> None:
    """What it looks for in a page, and makes of its next request, was a part of the response."""
    page = b'<a href="http://elsewhere/no">' * 1_000_000 + b'<a href="/">'
    reply = OK + b"Connection: close\r\nContent-Length: %d\r\n\r\n" % len(page) + page
    with serving(sends(reply)) as port:
        users = following(("/",), (), (), 1000, {})
        requests = drive(port, users, users=1, think_ms=0, seconds=2).requests
    ended, asked = requests.end_ns.to_numpy()[:-1], requests.start_ns.to_numpy()[1:]
    assert len(ended) > 1
    assert np.median(asked - ended) > 5 * MILLISECOND, "it looks at a million links"


@pytest.mark.parametrize(("fidelity", "spread"), [("corrected", RAMP_UP), ("published", 0)])
def test_users_start_over_the_ramp_or_at_once(fidelity, spread, site, drive: Driver) -> None:
    workload = users("user", fidelity, POPULATION)
    requests = drive(site(), workload, seconds=0.3, think_ms=5000, users=50).requests
    firsts = np.sort(requests.groupby("user").intended_ns.min())
    assert len(firsts) == 50
    assert firsts[-1] - firsts[0] == pytest.approx(spread * 49 / 50, abs=1000)


def test_phases_are_events_with_their_true_times(site, drive: Driver) -> None:
    before = time.time_ns()
    driven = drive(site(), seconds=0.5)
    events = driven.events
    phases = events[events.kind == "phase"].sort_values("t_ns")
    assert list(phases.subject) == ["ramp_up", "runtime"]
    assert list(phases.duration_ns) == [RAMP_UP, SECOND // 2]
    first, second = phases.t_ns
    assert first + RAMP_UP == second
    assert before < first < driven.requests.start_ns.min() + MILLISECOND


@pytest.mark.parametrize("arrivals", ["constant", "poisson"])
def test_open_loop_starts_at_its_own_times(arrivals, site, drive: Driver) -> None:
    loop = {"mode": "open", "rate_per_s": 250, "arrivals": arrivals}
    driven = drive(site("--delay-ms", "300"), seconds=1.5, loop=loop, users=0, grace_ns=5 * SECOND)
    requests = driven.requests
    intended = np.sort(requests.intended_ns.to_numpy())
    gaps = np.diff(intended) / MILLISECOND
    if arrivals == "constant":
        assert len(requests) == 250 * 1.6
        assert gaps == pytest.approx(4, abs=0.001)
    else:
        assert stats.kstest(gaps, stats.expon(scale=4).cdf).pvalue > 1e-4
    # 250 a second of 300 ms each need 75 sessions at once, although none was asked for.
    assert requests.user.nunique() >= 75
    assert requests.error.dropna().empty


@pytest.mark.alone
def test_open_loop_shows_a_stall_from_the_intended_time(site, drive: Driver) -> None:
    loop = {"mode": "open", "rate_per_s": 200, "arrivals": "constant"}
    process = drive.start(site(), seconds=1, loop=loop, users=10)
    stopped = stop_for(process, after=0.5, length=0.2)
    requests = drive.end(process).requests
    lag = (requests.start_ns - requests.intended_ns) / MILLISECOND
    # Every interaction of the 200 ms is there, and how late it was.
    assert len(requests) == 220
    assert (lag > 20).sum() >= stopped * 200 * 0.7
    assert 180 < lag.max() < 1000 * stopped + 200 * pace()


def ready(process: subprocess.Popen[str]) -> None:
    """Wait until it begins."""
    assert process.stdout is not None
    assert json.loads(process.stdout.readline())["ready"] is True


def stop_for(process: subprocess.Popen[str], after: float, length: float) -> float:
    """Stop it some time after it has begun; how long it stood, in seconds."""
    ready(process)
    time.sleep(after)
    return stop(process, length)


def stop(process: subprocess.Popen[str], length: float) -> float:
    process.send_signal(signal.SIGSTOP)
    began = time.monotonic()
    time.sleep(length)
    process.send_signal(signal.SIGCONT)
    return time.monotonic() - began


@pytest.mark.alone
def test_lag_is_reported_when_the_driver_was_held_up(site, drive: Driver) -> None:
    process = drive.start(site(), seconds=1.5, users=50)
    ready(process)
    time.sleep(0.5)
    stopped = time.time_ns()
    stop(process, 0.2)
    resumed = time.time_ns()
    driven = drive.end(process)
    lags = driven.events[driven.events.kind == "driver_lag"]
    worst = [json.loads(detail)["max_ns"] or 0 for detail in lags.detail]
    # A second in which the driver stood or went on tells of the 200 ms in which it did not.
    told = [
        lag
        for lag, start, length in zip(worst, lags.t_ns, lags.duration_ns, strict=True)
        if start < resumed + SECOND // 10 and start + length > stopped
    ]
    assert max(told) > 150 * MILLISECOND
    assert driven.summary["lag_max_ns"] == max(worst)


def test_a_driver_that_was_the_bottleneck_says_so(site, drive: Driver) -> None:
    process = drive.start(site(), seconds=1.5, users=50)
    ready(process)
    for _ in range(3):
        stop(process, 0.2)
        time.sleep(0.1)
    driven = drive.end(process)
    assert driven.summary["bottleneck"] is True
    assert "late" in driven.summary["why"]


def test_a_late_ramp_up_does_not_make_the_driver_a_bottleneck(site, drive: Driver) -> None:
    phases = [
        {"name": "ramp_up", "duration_ns": SECOND},
        {"name": "runtime", "duration_ns": SECOND},
    ]
    # Users who all start at once cannot all start in time, and hardly any thinks for so short.
    process = drive.start(
        site(), users("user", "published", POPULATION), phases=phases, users=500, think_ms=10_000
    )
    stop_for(process, after=0.3, length=0.2)
    driven = drive.end(process)
    requests = driven.requests
    runtime = driven.events.query("kind == 'phase' and subject == 'runtime'").t_ns.item()
    in_runtime = requests.start_ns.between(runtime, runtime + SECOND, inclusive="left")
    lag = (requests.start_ns - requests.intended_ns)[in_runtime]
    before = (requests.start_ns - requests.intended_ns)[requests.start_ns < runtime]
    assert before.quantile(0.99) > 5 * MILLISECOND
    assert driven.summary["lag_max_ns"] == lag.max()
    p99 = np.quantile(lag, 0.99, method="inverted_cdf")
    assert driven.summary["lag_p99_ns"] == pytest.approx(p99, rel=0.002)
    # On a busy machine it may be late in the runtime too.
    assert driven.summary["bottleneck"] is bool(p99 > 5 * MILLISECOND)


@pytest.mark.privileged
@pytest.mark.parametrize(
    ("priority", "prefix", "policy", "said"),
    [
        ("realtime", (), os.SCHED_RR, "realtime"),
        ("realtime", ("setpriv", "--bounding-set=-sys_nice"), os.SCHED_OTHER, "normal"),
        ("normal", (), os.SCHED_OTHER, "normal"),
    ],
)
def test_the_driver_runs_before_others_where_it_may(
    *, priority, prefix, policy, said, site, drive: Driver
) -> None:
    process = drive.start(site(), seconds=0.5, priority=priority, prefix=prefix)
    ready(process)
    # What it starts would be scheduled as any other.
    assert os.sched_getscheduler(process.pid) & ~os.SCHED_RESET_ON_FORK == policy
    assert drive.end(process).summary["scheduling"] == said


def test_progress_adds_up(site, drive: Driver) -> None:
    driven = drive(site(), seconds=1.5)
    phases = driven.events[driven.events.kind == "phase"]
    assert driven.lines[0] == {"ready": True, "start_ns": phases.t_ns.min()}
    seconds = driven.lines[1:-1]
    assert sum(line["requests"] for line in seconds) == driven.summary["requests"]
    assert driven.summary["requests"] == len(driven.requests)
    assert [line["phase"] for line in seconds] == ["runtime", "end"]
    assert driven.summary["cpu_ns"] > 0


@pytest.mark.parametrize(("threads", "think_ms", "least"), [(1, 20, 100), (3, 60_000, 20)])
def test_a_signal_ends_the_run_cleanly(threads, think_ms, least, site, drive: Driver) -> None:
    process = drive.start(site(), seconds=60, threads=threads, think_ms=think_ms)
    ready(process)
    # Threads that have nothing to do wake at each second's end: it is just over.
    time.sleep(1.2)
    process.send_signal(signal.SIGTERM)
    sent = time.time_ns()
    driven = drive.end(process)
    assert driven.status == 0
    last = driven.events.t_ns + driven.events.duration_ns
    assert last.max() - sent < 0.7 * SECOND * pace()
    phases = driven.events[driven.events.kind == "phase"]
    assert list(phases.subject) == ["ramp_up", "runtime"]
    assert 0.5 * SECOND < phases.duration_ns.max() < 30 * SECOND
    assert driven.summary["requests"] == len(driven.requests) >= least


def test_what_is_in_flight_at_the_end_is_recorded_as_cut(site, drive: Driver) -> None:
    port = site("--delay-ms", "2000")
    driven = drive(port, seconds=0.5, users=10, grace_ns=100 * MILLISECOND)
    requests = driven.requests
    assert list(requests.error) == ["cut"] * 10
    assert requests.status.isna().all()
    assert requests.first_byte_ns.isna().all()
    assert requests.connected_ns.notna().all()
