"""Push-back waves of simulated chains of servers in which one is stopped."""

from __future__ import annotations

import made_run
import numpy as np
import pytest
from conftest import Tiny
from simulated_queues import CHAIN, MS, SECOND, chain, poisson, progress

from tierlab.analysis.in_progress import visits_in_progress
from tierlab.analysis.push_back import Wave, calls_in_progress, tier_order, waves
from tierlab.analysis.queue_episodes import queue_episodes
from tierlab.analysis.span import Span

SPAN = Span(0, 30 * SECOND)
TIERS = [[name] for name in CHAIN]


def found(frozen: dict[str, list[tuple[int, int]]], seed: int, rate: float = 150.0) -> list[Wave]:
    dice = np.random.default_rng(seed)
    seen = chain(poisson(rate, 30, dice), frozen, dice)
    return waves(seen, TIERS, queue_episodes(seen, SPAN), SPAN)


@pytest.mark.parametrize("stopped", CHAIN)
@pytest.mark.parametrize("seed", [1, 2])
def test_the_stopped_server_is_the_origin(stopped: str, seed: int) -> None:
    begin = 12 * SECOND + 33 * MS * seed
    frozen = {stopped: [(begin, begin + 400 * MS)]}
    wave = max(found(frozen, seed), key=lambda each: each.servers[-1].grown_s)
    assert wave.origin == wave.first == stopped
    assert wave.climbed
    assert wave.start_ns <= begin + 20 * MS
    assert wave.end_ns >= begin + 400 * MS
    mine = {each.server: each for each in wave.servers}
    assert [each.server for each in wave.servers] == list(reversed(CHAIN))
    assert mine[stopped].lag_s == 0
    assert mine[stopped].downstream_share < 0.2
    for above in CHAIN[: CHAIN.index(stopped)]:
        lag = mine[above].lag_s
        assert lag is not None
        assert -0.02 <= lag <= 0.05
        assert mine[above].downstream_share > 0.8
        assert mine[above].own_s < 0.2 * mine[stopped].own_s
    for below in CHAIN[CHAIN.index(stopped) + 1 :]:
        lag = mine[below].lag_s
        assert lag is None or lag > 0.35, "what stands below grows only when it goes on"


def test_two_stops_are_two_waves() -> None:
    frozen = {
        "db.1": [(8 * SECOND, 8 * SECOND + 200 * MS)],
        "app.1": [(20 * SECOND, 20 * SECOND + 300 * MS)],
    }
    large = [each for each in found(frozen, 3) if each.servers[-1].grown_s > 1]
    assert [each.origin for each in large] == ["db.1", "app.1"]


def test_a_full_pool_does_not_take_the_blame() -> None:
    """The database holds five visits, its limit; forty more wait in front of it."""
    dice = np.random.default_rng(1)
    base = poisson(400, 30, dice)
    stop, go = 12 * SECOND, 13 * SECOND
    held = stop + np.arange(5, dtype=np.int64) * MS
    waiting = stop + np.arange(15, dtype=np.int64) * 2 * MS
    database = progress(np.append(base, held), np.append(base + MS, np.full(5, go)))
    lengths = np.append(base + 2 * MS, np.full(20, go))
    application = progress(np.concatenate([base, held, waiting]), lengths)
    seen = {"app.1": application, "db.1": database}
    tiers = [["app.1"], ["db.1"]]
    (wave,) = [
        each
        for each in waves(seen, tiers, queue_episodes(seen, SPAN), SPAN)
        if each.start_ns < go and each.end_ns > stop
    ]
    own = {each.server: each.own_s for each in wave.servers}
    assert own["app.1"] > 2 * own["db.1"]
    assert wave.origin == "db.1"


def test_calls_are_told_apart_by_their_links(tiny: Tiny) -> None:
    """Two application servers share one database; only the calls of the first one hang."""
    visits = []
    for n in range(400):
        name, came = f"app.{1 + n % 2}", n * 20 * MS
        stay = 500 * MS if n % 2 == 0 and 200 <= n < 225 else 4 * MS
        visits += [
            {"visit": 2 * n, "server": name, "arrival_ns": came, "departure_ns": came + stay + MS},
            {
                "visit": 2 * n + 1,
                "server": "db.1",
                "parent": 2 * n,
                "arrival_ns": came + MS // 2,
                "departure_ns": came + MS // 2 + stay,
            },
        ]
    observed = tiny({"visits": visits}, seconds=8)
    assert observed.whole is not None
    seen = visits_in_progress(observed.db, observed.whole)
    calls = calls_in_progress(observed.db, observed.whole)
    assert sorted(calls) == ["app.1", "app.2"]
    assert calls["app.1"].arrival_ns.size == 200
    tiers = tier_order(made_run.manifest(servers={}), seen)
    assert tiers == [["app.1", "app.2"], ["db.1"]]
    episodes = queue_episodes(seen, observed.whole)
    (wave,) = waves(seen, tiers, episodes, observed.whole, calls)
    assert wave.origin == "db.1"
    own = {each.server: each.own_s for each in wave.servers}
    assert own["app.1"] < 0.1 * own["db.1"]
    assert own["app.2"] < 0.1 * own["db.1"]


def test_the_order_of_tiers(tiny: Tiny) -> None:
    visit = {"arrival_ns": 5, "departure_ns": 9}
    names = ("db.2", "db.1", "web.1", "cache.1", "app.1")
    observed = tiny({"visits": [{**visit, "server": name} for name in names]})
    assert observed.whole is not None
    seen = visits_in_progress(observed.db, observed.whole)
    expected = [["web.1"], ["app.1"], ["db.1", "db.2"], ["cache.1"]]
    assert tier_order(made_run.manifest(), seen) == expected


def test_no_episodes_make_no_waves() -> None:
    assert waves({}, [], [], SPAN) == []
