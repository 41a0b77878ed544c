"""Visit times, the tiers' shares and Little's law, against figures worked out by hand."""

import numpy as np
import pytest

from tierlab.analysis.queues.busy_workers import busy_workers
from tierlab.analysis.queues.little import not_counted, queue_checks, users_check, worker_checks
from tierlab.analysis.queues.own_gaps import own_gaps
from tierlab.analysis.queues.visits import linking, server_visits
from tierlab.analysis.requests.responses import Responses, responses
from tierlab.analysis.requests.thinking import thought_share
from tierlab.analysis.requests.time_shares import time_shares
from tierlab.analysis.summary import summarise

MS = 1_000_000


def visit(number, server, arrival_ms, departure_ms, parent=None):
    return {
        "visit": number,
        "server": server,
        "arrival_ns": arrival_ms * MS,
        "departure_ns": None if departure_ms is None else departure_ms * MS,
        "parent": parent,
        "link": None if parent is None else "id",
        "confidence": None if parent is None else 1.0,
    }


REQUEST = {
    "intended_ns": 0,
    "start_ns": 0,
    "end_ns": 120 * MS,
    "interaction": "Home",
    "status": 200,
    "attempts": 1,
}
TREE = [
    visit(1, "web.1", 10, 110),
    visit(2, "app.1", 20, 100, parent=1),
    visit(3, "db.1", 30, 50, parent=2),
    visit(4, "db.2", 60, 90, parent=2),
]
TIERS = {"web.1": "web", "app.1": "app", "db.1": "db", "db.2": "db"}


def by_thread(number, server, arrival_ms, departure_ms, parent):
    return {**visit(number, server, arrival_ms, departure_ms, parent), "link": "thread"}


def test_calls_that_last_longer_than_their_caller_count_until_its_reply(tiny):
    """A thread may send the reply first, and wait for the database then: own time was negative."""
    calls = [
        by_thread(3, "db.1", 30, 50, 2),
        by_thread(4, "db.1", 90, 150, 2),  # of its 60 ms, 10 are within app.1's visit
        by_thread(5, "db.2", 120, 180, 2),  # made after the reply
    ]
    observed = tiny({"requests": [REQUEST], "visits": [*TREE[:2], *calls]})
    found = time_shares(observed.db, observed.measured, TIERS)
    own = found.own_per_visit_s
    assert own["app.1"] == pytest.approx(0.080 - 0.020 - 0.010)
    assert own["web.1"] == pytest.approx(0.020)
    assert own["db.1"] == pytest.approx(0.040)
    assert own["db.2"] == pytest.approx(0.060)
    assert all(each.own_s >= 0 for each in found.tiers)


def test_no_wait_of_a_server_is_longer_than_its_visit_where_calls_last_longer(tiny):
    calls = [by_thread(3, "db.1", 40, 150, 2), by_thread(4, "db.2", 120, 180, 2)]
    observed = tiny({"visits": [*TREE[:2], *calls]})
    gaps = own_gaps(observed.db, observed.measured, 5 * MS)
    found = [
        (str(server), int(start) // MS, int(end) // MS, str(callee))
        for server, start, end, callee in zip(
            gaps.server, gaps.start_ns, gaps.end_ns, gaps.callee, strict=True
        )
    ]
    assert ("app.1", 20, 40, "db.1") in found
    assert [each for each in found if each[0] == "app.1"] == [("app.1", 20, 40, "db.1")]
    assert (gaps.length_ns > 0).all()


def test_links_are_counted_by_how_they_were_made(tiny):
    visits = [*TREE[:2], by_thread(3, "db.1", 30, 50, 2), by_thread(4, "db.1", 60, 70, 2)]
    observed = tiny({"visits": visits})
    found = linking(observed.db, observed.measured, ["web.1"])
    assert found.by_link == {"id": 1, "thread": 2}


def test_own_times_sum_to_the_web_visit(tiny):
    observed = tiny({"requests": [REQUEST], "visits": TREE})
    found = time_shares(observed.db, observed.measured, TIERS)
    own = {each.tier: each.own_s for each in found.tiers}
    assert own == pytest.approx({"web": 0.020, "app": 0.030, "db": 0.050})
    assert sum(own.values()) == pytest.approx(0.100)
    assert found.total_s == pytest.approx(0.120)
    assert found.remainder_s == pytest.approx(0.020)
    assert sum(each.share for each in found.tiers) + found.remainder_share == pytest.approx(1)
    assert [each.tier for each in found.tiers] == ["web", "app", "db"]
    assert found.tiers[2].per_visit_s == pytest.approx(0.025)
    each = {"web.1": 0.020, "app.1": 0.030, "db.1": 0.020, "db.2": 0.030}
    assert found.own_per_visit_s == pytest.approx(each)


def test_without_requests_the_tiers_share_their_own_time(tiny):
    observed = tiny({"visits": TREE})
    found = time_shares(observed.db, observed.measured, TIERS)
    assert found.remainder_share is None
    assert found.tiers[0].per_request_s is None
    assert sum(each.share for each in found.tiers) == pytest.approx(1)


def test_images_side_by_side_leave_no_remainder(tiny):
    beside = [visit(5, "web.1", 10, 110), visit(6, "web.1", 10, 110)]
    observed = tiny({"requests": [REQUEST], "visits": TREE + beside})
    found = time_shares(observed.db, observed.measured, TIERS)
    assert found.remainder_s is None
    assert sum(each.share for each in found.tiers) == pytest.approx(1)


def test_visits_by_hand(tiny):
    hung = {**visit(7, "db.1", 980, None), "connection": 7}
    rows = [*TREE, hung, visit(8, "db.1", 990, 1_010)]
    observed = tiny({"visits": rows})
    found = {each.server: each for each in server_visits(observed.db, observed.measured)}
    assert found["db.1"].count == 1
    assert found["db.1"].unfinished == 1
    assert found["db.1"].finished_mean == pytest.approx(0.020 + 0.010)
    assert found["db.1"].queue_mean == pytest.approx(0.020 + 0.010 + 0.020)
    assert found["web.1"].time.mean_s == pytest.approx(0.1)


def test_linking_counts_what_has_no_parent(tiny):
    observed = tiny({"visits": [*TREE, visit(9, "db.1", 200, 210)]})
    found = linking(observed.db, observed.measured, ["web.1"])
    assert (found.linked, found.unlinked, found.by_link) == (3, 1, {"id": 3})


def queue_of_one_server(dice, rate, service_s, seconds):
    """Serve Poisson arrivals one after another for exponential times: an M/M/1 queue."""
    arrivals = np.cumsum(dice.exponential(1 / rate, int(rate * seconds * 1.2)))
    work = dice.exponential(service_s, arrivals.size)
    departures = np.empty_like(arrivals)
    free = 0.0
    for index, (arrival, length) in enumerate(zip(arrivals, work, strict=True)):
        free = max(free, arrival) + length
        departures[index] = free
    return (arrivals * 1e9).astype(np.int64), (departures * 1e9).astype(np.int64)


def test_littles_law_on_a_queue_with_a_closed_form(tiny):
    rate, service_s, seconds = 100.0, 0.006, 400.0
    dice = np.random.default_rng(3)
    arrivals, departures = queue_of_one_server(dice, rate, service_s, seconds + 50)
    rows = [
        {"visit": i, "server": "db.1", "arrival_ns": int(a), "departure_ns": int(d)}
        for i, (a, d) in enumerate(zip(arrivals, departures, strict=True))
    ]
    observed = tiny({"visits": rows}, seconds=seconds)
    found = server_visits(observed.db, observed.measured)
    (check,) = queue_checks(found)
    assert check.holds
    assert abs(check.difference) < 0.02
    load = rate * service_s
    assert found[0].queue_mean == pytest.approx(load / (1 - load), rel=0.1)
    assert found[0].time.mean_s == pytest.approx(service_s / (1 - load), rel=0.1)


def test_the_law_is_held_to_the_visits_that_left(tiny):
    rows = [visit(i, "db.1", 10 * i, 10 * i + 5) for i in range(90)]
    hung = {**visit(99, "db.1", 100, None), "connection": 1}
    observed = tiny({"visits": [*rows, hung]})
    (found,) = server_visits(observed.db, observed.measured)
    assert found.queue_mean == pytest.approx(0.45 + 0.9)
    assert found.time.max_s == pytest.approx(0.005)
    (check,) = queue_checks([found])
    assert check.difference == pytest.approx(0)


def test_users_are_throughput_times_cycle(made):
    found = responses(made.db, made.measured)
    thought = thought_share(made.db, made.measured)
    assert thought > 0.999
    check = users_check(found, made.measured.seconds, 1_500, 7.0, thought)
    assert check.expected == pytest.approx(1_500, rel=0.03)
    assert check.holds


def test_users_check_needs_a_closed_loop():
    found = Responses(count=10, failed=0, throughput=1, mean_all_s=1, time=None, errors=[])
    assert users_check(found, 10, None, 7.0, 1.0) is None
    assert users_check(None, 10, 5, 7.0, 1.0) is None
    assert users_check(found, 10, 8, 7.0, 1.0).expected == pytest.approx(8)


def test_users_who_do_not_think_after_a_failure(tiny):
    """One user, 10 ms a request, 90 ms of think time but after every other request."""
    rows = []
    for begin in range(0, 1_000, 110):
        first = {**REQUEST, "user": 1, "intended_ns": begin * MS, "end_ns": (begin + 10) * MS}
        failed = {**first, "error": "no_reply", "status": None}
        after = {**first, "intended_ns": (begin + 10) * MS, "end_ns": (begin + 20) * MS}
        rows += [failed, after]
    observed = tiny({"requests": rows}, seconds=1.1)
    thought = thought_share(observed.db, observed.measured)
    assert thought == pytest.approx(9 / 19)
    found = responses(observed.db, observed.measured)
    assert users_check(found, 1.1, 1, 0.09, thought).expected == pytest.approx(1, rel=0.05)


def test_tiers_without_any_link_are_not_believed(tiny):
    placed = {
        name: {"tier": tier, "server": "x", "address": "127.0.0.1", "port": 1, "protocol": "http"}
        for name, tier in TIERS.items()
    }
    loose = [{**each, "parent": None, "link": None, "confidence": None} for each in TREE]
    observed = tiny({"requests": [REQUEST], "visits": loose}, servers=placed)
    (said,) = summarise(observed).caveats
    assert "Nothing links the visits of app, db, web:" in said


def test_a_server_that_nobody_asked_has_a_measured_zero(tiny):
    place = {"server": "x", "address": "127.0.0.1", "port": 1, "protocol": "mysql"}
    placed = {name: {**place, "tier": tier} for name, tier in [*TIERS.items(), ("db.3", "db")]}
    traced = tiny({"requests": [REQUEST], "visits": TREE}, servers=placed)
    unused = {each.name: each for each in summarise(traced).servers}["db.3"]
    assert (unused.visits, unused.rate, unused.unfinished, unused.time) == (0, 0.0, 0, None)
    assert (unused.queue.mean, unused.queue.peak) == (0.0, 0.0)
    untraced = tiny({"requests": [REQUEST], "visits": []}, servers=placed)
    assert {each.visits for each in summarise(untraced).servers} == {None}


def test_of_a_server_at_a_socket_whose_messages_nobody_saw_nothing_is_measured(tiny):
    place = {"server": "x", "address": "127.0.0.1", "port": 1, "protocol": "mysql"}
    placed = {name: {**place, "tier": tier} for name, tier in TIERS.items()}
    placed["cache.1"] = {**place, "tier": "cache", "port": 0, "socket": "/run/cache.sock"}
    why = {"visits of cache.1": "x", "calls of web.1 at /run/other.sock": "y", "soft": "z"}
    observed = tiny({"requests": [REQUEST], "visits": TREE}, servers=placed, not_measured=why)
    found = summarise(observed)
    cache = {each.name: each for each in found.servers}["cache.1"]
    assert (cache.visits, cache.queue, cache.address) == (None, None, "/run/cache.sock")
    assert found.caveats == [
        "Messages at UNIX sockets were not seen (visits of cache.1, calls of web.1 at"
        " /run/other.sock): the time that a server waits for them counts as its own."
    ]


def test_a_server_that_no_visit_left_is_not_an_untraced_one(tiny):
    rows = [*TREE[:3], visit(4, "db.2", 60, None, parent=2)]
    observed = tiny({"requests": [REQUEST], "visits": rows})
    servers = {each.name: each for each in summarise(observed).servers}
    assert (servers["db.2"].visits, servers["db.2"].unfinished) == (0, 1)
    assert servers["db.2"].time is None
    assert "(1 at db.2)" in summarise(observed).caveats[0]


def closed_loop(users, cycle_ms, response_ms, seconds):
    """Every user's requests of so long, one a cycle: he thinks for the rest of it."""
    cycles = int(seconds * 1000 / cycle_ms)
    starts = [
        (user, cycle * cycle_ms + user * cycle_ms // users)
        for cycle in range(cycles)
        for user in range(users)
    ]
    return [
        {
            **REQUEST,
            "user": user,
            "intended_ns": start_ms * MS,
            "start_ns": start_ms * MS,
            "end_ns": (start_ms + response_ms) * MS,
        }
        for user, start_ms in starts
    ]


@pytest.mark.parametrize(("kept", "difference"), [(1, 0.0), (2, 1.0)], ids=["whole", "lost"])
def test_lost_requests_break_the_law(tiny, kept, difference):
    rows = closed_loop(users=20, cycle_ms=100, response_ms=20, seconds=10)
    observed = tiny({"requests": rows[::kept]}, seconds=10)
    found = responses(observed.db, observed.measured)
    check = users_check(found, observed.measured.seconds, 20, 0.080, 1.0)
    assert check.holds == (kept == 1)
    assert check.difference == pytest.approx(difference, abs=0.02)


def counted(visits, busy, every_ns=100_000_000, seconds=20):
    """A server's own counts, the number in progress by ``visits`` plus what ``busy`` says."""
    arrival, departure = (np.array(each) for each in zip(*visits, strict=True))
    rows = []
    for t in range(every_ns, seconds * 1_000_000_000, every_ns):
        inside = np.count_nonzero((arrival <= t) & (departure > t))
        figures = {"in_use": int(busy(inside)), "waiting": None, "limit": 200}
        rows.append(
            {"t_ns": t, "dt_ns": every_ns, "subject": "app.1", "resource": "threads", **figures}
        )
    return rows


@pytest.mark.parametrize(
    ("busy", "lost", "holds"),
    [
        (lambda inside: inside, 0.0, True),
        (lambda inside: max(0, inside - 1), 0.0, True),
        (lambda inside: inside, 0.2, False),
    ],
)
def test_visits_that_were_not_recorded_are_seen_in_the_servers_own_count(tiny, busy, lost, holds):
    """A fifth of the visits lost: the law holds of those that are left, but not of the workers."""
    dice = np.random.default_rng(5)
    arrival = np.sort(dice.integers(0, 20_000_000_000, 8_000))
    stay = dice.exponential(20e6, arrival.size).astype(np.int64)
    visits = list(zip(arrival.tolist(), (arrival + stay).tolist(), strict=True))
    rows = [
        {"visit": n, "server": "app.1", "connection": n, "arrival_ns": a, "departure_ns": d}
        for n, (a, d) in enumerate(visits)
        if dice.random() >= lost
    ]
    observed = tiny({"visits": rows, "soft": counted(visits, busy)}, seconds=20.0)

    counts = busy_workers(observed.db, observed.measured, observed.in_progress)

    (check,) = worker_checks(counts)
    (law,) = queue_checks(server_visits(observed.db, observed.measured))
    assert (check.subject, check.holds, law.holds) == ("app.1", holds, True)
    assert not_counted(["web.1", "app.1"], counts).keys() == {"busy workers of web.1"}


def test_while_a_server_stands_still_its_workers_are_not_counted(tiny):
    """Visits pile up for five seconds, in which it counts nothing."""
    visits = [(n * 100_000_000, 15_000_000_000) for n in range(100, 150)]
    rows = [
        {"visit": n, "server": "app.1", "connection": n, "arrival_ns": a, "departure_ns": d}
        for n, (a, d) in enumerate(visits)
    ]
    counts = counted(visits, lambda inside: inside)
    moving = [each for each in counts if not 10_000_000_000 <= each["t_ns"] < 15_000_000_000]
    at = next(n for n, each in enumerate(moving) if each["t_ns"] == 15_000_000_000)
    moving[at]["dt_ns"] = 5_000_000_000
    observed = tiny({"visits": rows, "soft": moving}, seconds=20.0)

    found = busy_workers(observed.db, observed.measured, observed.in_progress)["app.1"]

    assert (found.counted, found.by_visits) == (0, 0)
    assert found.readings == len(moving) - 1
