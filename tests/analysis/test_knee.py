"""The knee against closed forms: asymptotic bounds, exact mean value analysis, and M/M/m."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tierlab.analysis.comparing.blocks import BINS, bin_of
from tierlab.analysis.knee.breaking import FAR, breaking, crossing, judged
from tierlab.analysis.knee.saturation import saturation
from tierlab.analysis.knee.search import AROUND, MOST_TRIALS, Knee, first_loads, knee, next_loads
from tierlab.analysis.knee.step import WINDOW_NS, Step, Windows

SECONDS = 5.0


def step(load: float, throughput: float, seconds: float = SECONDS) -> Step:
    return Step(
        trial="001", load=load, seconds=seconds, throughput=throughput,
        count=round(throughput * seconds), failed=0.0, mean_s=None, p50_s=None, p99_s=None,
    )  # fmt: skip


def closed(users: float, demand_s: float, think_s: float) -> float:
    """Throughput of a closed system of one queue with thinking users: exact mean value analysis (M.
    Reiser and S. S. Lavenberg, "Mean-Value Analysis of Closed Multichain Queueing Networks", 1980).
    """
    queue = throughput = 0.0
    for n in range(1, round(users) + 1):
        residence = demand_s * (1 + queue)
        throughput = n / (residence + think_s)
        queue = throughput * residence
    return throughput


def test_two_lines_are_found_where_they_meet() -> None:
    steps = [step(n, min(n * 2.0, 100.0 + 0.1 * (n - 50))) for n in range(10, 101, 10)]
    found = saturation(steps)
    assert found is not None
    assert found.load == pytest.approx(50, rel=1e-3)
    assert (found.slope, found.beyond) == (pytest.approx(2, rel=1e-3), pytest.approx(0.1, rel=0.02))
    assert found.throughput == pytest.approx(100, rel=1e-3)


@pytest.mark.parametrize(("demand_s", "think_s"), [(0.01, 7.0), (0.004, 1.0), (0.02, 0.5)])
def test_the_knee_of_a_closed_system_is_where_its_bounds_meet(
    demand_s: float, think_s: float
) -> None:
    expected = (demand_s + think_s) / demand_s
    loads = [expected * share for share in np.linspace(0.2, 2.0, 10)]
    found = saturation([step(n, closed(n, demand_s, think_s)) for n in loads])
    assert found is not None
    assert found.load == pytest.approx(expected, rel=0.05)
    # Below the bounds by as much as few users wait for each other by chance.
    assert found.throughput == pytest.approx(1 / demand_s, rel=0.1)


def test_a_line_has_no_knee_and_neither_has_noise_about_it() -> None:
    dice = np.random.default_rng(3)
    for _ in range(50):
        steps = [step(n, dice.poisson(n * 50) / SECONDS) for n in range(10, 101, 10)]
        found = saturation(steps)
        assert found is None or found.load > 60, "a line's end may bend a little"
    assert saturation([step(n, 2.0 * n) for n in (1, 2, 3, 4)]) is None, "too few"


def test_the_interval_holds_the_knee_as_often_as_it_says() -> None:
    """Poisson counts about two lines: of 200 intervals of 95 %, 178 or more hold the knee at a
    chance of 0.999.
    """
    dice = np.random.default_rng(7)
    loads = np.linspace(10, 100, 10)
    held = 0
    for _ in range(200):
        seen = dice.poisson(np.minimum(loads, 57.0) * 20 * SECONDS) / SECONDS
        found = saturation([step(n, x) for n, x in zip(loads, seen, strict=True)])
        held += found is not None and found.low <= 57.0 <= found.high
    assert held >= 178


def windows(load: float, times_s: np.ndarray, failed: int = 0, trial: str = "001") -> Windows:
    """A step of five seconds in which these response times came, evenly over its windows."""
    count = round(SECONDS * 1e9 / WINDOW_NS)
    part = np.arange(times_s.size) % count
    cells = part * BINS + bin_of(times_s)
    return Windows(
        trial=trial,
        load=load,
        seconds=SECONDS,
        done=np.bincount(part, minlength=count).astype(float),
        failed=np.bincount(np.arange(failed) % count, minlength=count).astype(float),
        time_s=np.bincount(part, times_s, minlength=count),
        times=np.bincount(cells, minlength=count * BINS).reshape(count, BINS).astype(float),
    )


def erlang_c(rate: float, service: float, servers: int) -> float:
    """The share that waits in M/M/m (L. Kleinrock, "Queueing Systems", 1975, section 3.5)."""
    offered = rate / service
    terms = [offered**k / math.factorial(k) for k in range(servers)]
    last = offered**servers / math.factorial(servers) / (1 - offered / servers)
    return last / (sum(terms) + last)


def p99_of_mmm(rate: float, service: float, servers: int) -> float:
    """The 99th percentile of the response time, by halving its closed-form distribution."""
    if rate >= service * servers:
        return math.inf
    waits = erlang_c(rate, service, servers)
    spare = service * servers - rate

    def longer(t: float) -> float:
        """P(R > t): exponential service after an exponential wait."""
        tail = math.exp(-service * t)
        if math.isclose(spare, service):
            return tail * (1 + waits * service * t)
        return tail + waits * service / (service - spare) * (math.exp(-spare * t) - tail)

    low, high = 0.0, 1e4 / spare
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if longer(middle) > 0.01 else (low, middle)
    return low


def drawn_from(rate: float, service: float, servers: int, dice: np.random.Generator) -> np.ndarray:
    """Response times of M/M/m at this rate, drawn from its closed form; over its capacity, long
    ones.
    """
    count = dice.poisson(min(rate, service * servers) * SECONDS)
    served = dice.exponential(1 / service, count)
    if rate >= service * servers:
        return served + 10.0
    waited = dice.random(count) < erlang_c(rate, service, servers)
    return served + np.where(waited, dice.exponential(1 / (service * servers - rate), count), 0.0)


@pytest.mark.parametrize("servers", [1, 2, 8])
def test_the_load_at_which_the_p99_of_mmm_breaks_is_found(servers: int) -> None:
    service = 400.0 / servers
    bound = 3 * p99_of_mmm(0.2 * 400, service, servers)
    low, high = 0.0, 400.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (
            (low, middle) if p99_of_mmm(middle, service, servers) > bound else (middle, high)
        )
    dice = np.random.default_rng(servers)
    loads = np.linspace(0.85 * low, min(1.15 * low, 440), 9)
    steps = [windows(load, drawn_from(load, service, servers, dice)) for load in loads]

    found = breaking(steps, {"p99_ns": bound * 1e9})

    assert found is not None
    assert found.load is not None
    assert found.high is not None
    assert found.load == pytest.approx(low, rel=0.06)
    assert found.low * 0.98 <= low <= found.high * 1.02


def test_the_bound_that_breaks_first_decides() -> None:
    calm = np.full(1000, 0.01)
    steps = [windows(load, calm, failed=failed) for load, failed in ((10, 0), (20, 1), (30, 100))]
    found = breaking(steps, {"p99_ns": 0.1 * 1e9, "errors": 0.05})
    assert found is not None
    assert found.load is not None
    assert 20 < found.load < 30
    assert (found.low, found.high) == (20, 30), "nothing was seen between the two"


def test_an_objective_that_holds_everywhere_or_nowhere_says_so() -> None:
    steps = [windows(load, np.full(100, 0.01)) for load in (10.0, 20.0)]
    held = breaking(steps, {"p99_ns": 1e9})
    assert held is not None
    assert (held.load, held.low, held.high) == (None, 20, None)
    missed = breaking(steps, {"p99_ns": 1e6})
    assert missed is not None
    assert (missed.load, missed.low, missed.high) == (10, 0, 10)
    assert breaking(steps, {}) is None


def test_what_no_load_is_low_enough_for_is_no_bound() -> None:
    objective = {"p99_ns": 1000, "errors": 0.0, "throughput": 5.0, "rules": False}
    assert judged(objective) == {"p99_ns": 1000.0, "errors": 0.0}
    failing = [windows(load, np.full(100, 0.01), failed=n) for load, n in ((10.0, 0), (20.0, 1))]
    found = breaking(failing, {"errors": 0.0})
    assert found is not None
    assert found.load is not None, "one that fails is more than none"


def test_where_everything_failed_the_times_are_missed() -> None:
    steps = [windows(10, np.full(100, 0.01)), windows(20, np.array([]), failed=100)]
    found = breaking(steps, {"p99_ns": 1e9})
    assert found is not None
    assert found.load == pytest.approx(15, abs=0.1), "as far above the bound as below it"
    assert math.log(FAR) > 0


@given(
    st.lists(st.floats(-2, 2), min_size=2, max_size=12),
    st.floats(0.5, 100),
)
def test_a_crossing_lies_where_its_sign_changes(excess: list[float], width: float) -> None:
    load = np.arange(1, len(excess) + 1) * width
    values = np.array(excess)
    found = crossing(load, values, np.ones_like(load))
    assert found >= load[0]
    rising = np.sort(values)
    sure = crossing(load, rising, np.ones_like(load))
    if np.isfinite(sure):
        near = 1e-6 * width
        assert load[0] <= sure <= load[-1] + near
        assert (rising[load < sure - near] < 0).all()
        assert (rising[load > sure + near] >= 0).all()
    else:
        assert (rising < 0).all()


def searched(
    answer: Callable[[float], Windows], most: float, largest: float = math.inf
) -> tuple[Knee, int]:
    """A search whose trials are answered by a function; how many there were."""
    seen: list[Windows] = []
    loads, trials, closer = first_loads(most), 0, 0
    while loads:
        trials += 1
        seen += [answer(load) for load in loads]
        found = knee(seen, {}, is_closed=False)
        loads, closer = next_loads(found, trials, closer, largest)
    return found, trials


@pytest.mark.parametrize(("capacity", "reached"), [(130.0, True), (640.0, False)])
def test_a_search_goes_as_far_as_loads_may_go(capacity: float, reached: bool) -> None:
    dice = np.random.default_rng(5)
    asked = []

    def answer(load: float) -> Windows:
        asked.append(load)
        return windows(load, np.full(dice.poisson(min(load, capacity) * 4 * SECONDS), 0.01))

    found, trials = searched(answer, 100.0, 160.0)

    assert max(asked) == 160
    assert trials <= 2 + len(AROUND)
    assert (found.load == pytest.approx(capacity, rel=0.1)) if reached else (found.load is None)


@pytest.mark.parametrize(("least", "most"), [(0.03, 0.1), (0.1, 25.0)])
def test_a_search_finds_the_knee_wherever_it_is(least: float, most: float) -> None:
    """An open system's capacity, from a thirtieth of the load that the file names to 25 times. Of
    100 intervals of 95 %, 86 or more hold it at a chance of 0.999; as many errors of 5 % of what a
    precise search may leave are less likely than that.
    """
    dice = np.random.default_rng(11)
    capacity, held, near = 500.0, 0, 0

    def answer(load: float) -> Windows:
        return windows(load, np.full(dice.poisson(min(load, capacity) * SECONDS), 0.01))

    for share in np.geomspace(least, most, 100):
        found, trials = searched(answer, capacity / share)
        assert trials <= MOST_TRIALS + len(AROUND)
        assert found.load is not None
        assert found.high is not None
        held += found.low <= capacity <= found.high
        near += abs(found.load - capacity) <= 0.05 * capacity
    assert held >= 86
    assert near >= 97


def test_a_search_ends_where_the_knee_is_too_far() -> None:
    found, trials = searched(lambda load: windows(load, np.full(round(load * SECONDS), 0.01)), 10.0)
    assert found.load is None
    assert trials == MOST_TRIALS


def test_a_quick_search_takes_two_trials() -> None:
    dice = np.random.default_rng(1)

    def answer(load: float) -> Windows:
        return windows(load, np.full(dice.poisson(min(load, 640.0) * SECONDS), 0.01))

    found, trials = searched(answer, 1000.0)
    assert found.load == pytest.approx(640, rel=0.03)
    assert trials <= 3
