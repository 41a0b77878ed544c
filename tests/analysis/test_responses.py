import numpy as np
import pyarrow.parquet as pq
import pytest

from tierlab.analysis.requests.histogram import histogram
from tierlab.analysis.requests.responses import interactions, responses
from tierlab.analysis.requests.very_long import very_long
from tierlab.analysis.summary import summarise
from tierlab.cli.objectives import shortfalls
from tierlab.experiment import Objective
from tierlab.report.words import slow

MS = 1_000_000


def request(end_ms, response_ms, **more):
    row = {"interaction": "Home", "status": 200, "attempts": 1, "start_ns": 0}
    begin = round((end_ms - response_ms) * MS)
    return {**row, "intended_ns": begin, "end_ns": end_ms * MS, **more}


def test_figures_by_hand(tiny):
    observed = tiny(
        {
            "requests": [
                request(100, 10),
                request(200, 20),
                request(300, 30),
                request(400, 900, status=500, error="status 500"),
                request(500, 40, status=404),
                request(1_000, 5),  # the span ends before it
            ]
        }
    )
    found = responses(observed.db, observed.measured)
    assert (found.count, found.failed, found.throughput) == (5, 2, 3.0)
    assert found.time.mean_s == pytest.approx(0.020)
    assert found.mean_all_s == pytest.approx(0.2)
    assert (found.time.p50_s, found.time.max_s) == (0.020, 0.030)
    kinds = {each.kind: each.count for each in found.errors}
    assert kinds == {"status 500": 1, "status 404": 1}


def test_an_http_request_without_a_status_is_no_success(tiny):
    """A statement has none and succeeds; nothing is known of what is said to have been neither."""
    rows = [
        request(100, 10, protocol="http1"),
        request(200, 20, protocol="http1", status=None),
        request(300, 30, protocol="postgresql", status=None),
        request(400, 40, protocol="postgresql", status=None, error="sqlstate_22012"),
        request(500, 50, protocol=None, status=None),
    ]
    observed = tiny({"requests": rows})
    found = responses(observed.db, observed.measured)
    assert (found.count, found.failed, found.throughput) == (5, 3, 2.0)
    assert found.time.max_s == 0.030
    kinds = {each.kind: each.count for each in found.errors}
    assert kinds == {"no status": 2, "sqlstate_22012": 1}


def test_each_of_several_systems_has_figures_of_its_own(tiny):
    """A system that answered nothing has none; the whole has those of all."""
    systems = {
        name: {"workload": "rubis", "load": {"users": users}}
        for name, users in (("shop", 6), ("market", 3), ("still", 1))
    }
    rows = [
        request(100, 10, system="shop"),
        request(200, 30, system="shop", status=500),
        request(300, 50, system="market"),
    ]
    found = summarise(tiny({"requests": rows}, systems=systems))
    figures = [(each.name, each.users, each.responses) for each in found.systems]
    (_, _, shop), (_, _, market), still = figures
    assert (shop.count, shop.failed, shop.time.mean_s) == (2, 1, 0.010)
    assert (market.count, market.failed, market.time.mean_s) == (1, 0, 0.050)
    assert still == ("still", 1, None)
    assert (found.responses.count, found.responses.failed) == (3, 1)
    pages = {each.name: (each.count, each.failed) for each in found.interactions}
    assert pages == {"shop: Home": (2, 1), "market: Home": (1, 0)}, "both have a page of that name"


def test_response_time_starts_when_the_user_meant_to_click(tiny):
    late = request(500, 400, start_ns=480 * MS)
    observed = tiny({"requests": [late]})
    assert responses(observed.db, observed.measured).time.max_s == 0.4


def test_percentiles_equal_numpys(made):
    found = responses(made.db, made.measured).time
    table = pq.read_table(made.run.path / "requests.parquet")
    end, begin, status = (table[each].to_numpy() for each in ("end_ns", "intended_ns", "status"))
    inside = (end >= made.measured.start_ns) & (end < made.measured.end_ns) & (status == 200)
    times = (end - begin)[inside] / 1e9
    assert found.count == len(times)
    assert found.mean_s == pytest.approx(times.mean())
    assert found.max_s == pytest.approx(times.max())
    levels = [found.p50_s, found.p90_s, found.p95_s, found.p99_s, found.p999_s]
    assert levels == pytest.approx(np.percentile(times, [50, 90, 95, 99, 99.9]).tolist())


def test_interactions_add_up_to_all(made):
    total = responses(made.db, made.measured)
    found = interactions(made.db, made.measured)
    assert sum(each.count for each in found) == total.count
    assert sum(each.failed for each in found) == total.failed
    assert sum(each.share for each in found) == pytest.approx(1)
    weighted = sum(each.time.mean_s * each.time.count for each in found) / total.time.count
    assert weighted == pytest.approx(total.time.mean_s)


def test_buckets_take_their_lower_bound(tiny):
    at = [0, 199, 200, 999, 1_000, 1_499, 1_500, 1_999, 2_000, 7_000]
    rows = [request(9_000, each) for each in at]
    rows.append(request(9_000, 100, status=500))
    observed = tiny({"requests": rows}, seconds=10)
    found = histogram(observed.db, observed.measured)
    assert [each.count for each in found] == [2, 1, 0, 0, 1, 2, 2, 2]
    assert [each.to_s for each in found] == [0.2, 0.4, 0.6, 0.8, 1.0, 1.5, 2.0, None]
    assert sum(each.share for each in found) == pytest.approx(1)


def test_very_long_requests_and_their_clusters(tiny):
    rows = [
        request(2_000, 2_000),  # not over the threshold
        request(2_600, 2_500),
        request(4_200, 2_700, attempts=2),  # begins a second later: the same cluster
        request(9_000, 3_000, error="timeout", status=None),
        request(9_100, 10),
    ]
    observed = tiny({"requests": rows}, seconds=10)
    found = very_long(observed.db, observed.measured, observed.very_long)
    assert (found.threshold_s, found.threshold_from) == (2.0, "setting")
    assert (found.count, found.failed, found.retried) == (3, 1, 1)
    assert found.share == pytest.approx(3 / 5)
    clusters = [(each.start_ns, each.end_ns, each.count) for each in found.clusters]
    assert clusters == [(0, 2_000_000_000, 2), (6_000_000_000, 7_000_000_000, 1)]


def test_who_still_waits_when_the_runtime_ends_is_counted_and_judged(tiny):
    """A database that hung for good at half of the runtime: its trial met its objective, as those
    who waited had no reply before the trial was over.
    """
    quick = [request(100 * n, 10) for n in range(1, 51)]
    hung = [request(12_000, 6_900, status=None, error="cut") for _ in range(5)]
    young = request(10_500, 1_000)  # began late in the runtime, as it may
    observed = tiny({"requests": [*quick, *hung, young]}, seconds=10)
    summary = summarise(observed)
    long = summary.very_long
    assert (long.count, long.unfinished, long.unfinished_failed) == (0, 5, 5)
    assert (long.at_least.count, long.at_least.max_s) == (55, 4.9)
    assert summary.responses.time.p99_s == 0.01

    missed = shortfalls(Objective(p99="500ms", errors=0.01), summary)
    assert missed == [
        "9.09 % of the requests failed, the objective is 1 %.",
        "p99 is 4900 ms, the objective is 500 ms.",
    ]
    assert slow(summary) == (
        "None of 50 requests took over 2 s, and 5 more had waited longer when the runtime ended "
        "(5 of them failed later)."
    )


@pytest.mark.parametrize(
    ("objective", "said"),
    [
        (Objective(p50="300us"), "p50 is 0.4 ms, the objective is 0.3 ms."),
        (Objective(mean="399us"), "mean is 0.4 ms, the objective is 0.399 ms."),
        (Objective(throughput=10.01), "throughput is 10 requests/s, the objective is 10.01."),
        (Objective(errors=0.0909), "9.091 % of the requests failed, the objective is 9.09 %."),
    ],
)
def test_what_was_missed_by_little_is_told_from_its_bound(tiny, objective, said):
    """A p50 of 0 ms missed an objective of 0.3 ms."""
    rows = [request(90 * n, 0.4) for n in range(1, 11)]
    rows.append(request(950, 0.4, status=500))
    (missed,) = shortfalls(objective, summarise(tiny({"requests": rows})))
    assert missed == said


def test_a_cluster_may_begin_before_the_span(tiny):
    observed = tiny({"requests": [request(600, 2_500)]})
    (cluster,) = very_long(observed.db, observed.measured, observed.very_long).clusters
    assert (cluster.start_ns, cluster.end_ns) == (-2_000_000_000, -1_000_000_000)


def in_two_modes(slow_ms):
    """Requests of about 20 ms, and one in ten of about so long."""
    random = np.random.default_rng(1)
    lengths = [
        *random.lognormal(np.log(20), 0.8, 450),
        *random.lognormal(np.log(slow_ms), 0.05, 50),
    ]
    return [request(100_000, round(each)) for each in lengths]


def test_very_long_is_what_the_experiment_sets(tiny):
    observed = tiny(
        {"requests": in_two_modes(600)}, seconds=200, very_long={"threshold_ns": 300 * MS}
    )
    found = summarise(observed).very_long
    assert (found.threshold_s, found.threshold_from, found.count) == (0.3, "setting", 50)


def test_very_long_is_from_the_valley_on_where_the_experiment_says_so(tiny):
    observed = tiny({"requests": in_two_modes(1_500)}, seconds=200, very_long={"valley": True})
    found = summarise(observed).very_long
    assert found.threshold_from == "valley"
    assert 0.3 < found.threshold_s < 1.3
    assert found.count == 50


def test_without_a_valley_very_long_is_over_two_seconds(tiny):
    observed = tiny({"requests": in_two_modes(20)}, seconds=200, very_long={"valley": True})
    found = summarise(observed).very_long
    assert (found.threshold_s, found.threshold_from, found.count) == (2.0, "default", 0)
