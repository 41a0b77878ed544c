import numpy as np
import pytest

from tierlab.analysis.event_counts import event_counts
from tierlab.analysis.observation import observation_cost
from tierlab.analysis.requests.driver import cpu_by_block, driver, lag_over_time
from tierlab.analysis.resources.cpu_use import agents_use, cpu_use
from tierlab.analysis.resources.metrics import METRICS, metric
from tierlab.analysis.resources.resources import resources, timelines
from tierlab.analysis.span import Span
from tierlab.analysis.statistics.episodes import episodes
from tierlab.analysis.summary import summarise
from tierlab.tables.manifest import Observation
from tierlab.tables.schemas import SCHEMAS

MS = 1_000_000


def cpu(t_ms, dt_ms, busy, subject="cpu0"):
    return {"t_ns": t_ms * MS, "dt_ns": dt_ms * MS, "subject": subject, "busy": busy}


def found_in(observed, table, name):
    all_found = resources(observed.db, observed.measured)
    return [each for each in all_found if (each.table, each.metric) == (table, name)]


def test_every_metric_reads_columns_that_exist(tiny):
    observed = tiny({name: [] for name in SCHEMAS})
    assert resources(observed.db, observed.measured) == []
    for each in METRICS:
        assert timelines(observed.db, observed.measured, each) == []


def test_means_are_weighted_by_the_measured_ticks(tiny):
    observed = tiny({"cpu": [cpu(100, 100, 1.0), cpu(400, 300, 0.2), cpu(1_100, 700, 0.9)]})
    (found,) = found_in(observed, "cpu", "busy")
    assert found.mean == pytest.approx((100 * 1.0 + 300 * 0.2) / 400)
    assert (found.peak, found.ticks, found.saturated) == (1.0, 2, 1)


def test_what_was_not_measured_is_left_out_not_zero(tiny):
    observed = tiny({"cpu": [cpu(100, 100, None), cpu(200, 100, 0.5)]})
    (busy,) = found_in(observed, "cpu", "busy")
    assert (busy.mean, busy.ticks) == (0.5, 1)
    assert found_in(observed, "cpu", "iowait") == []


def test_counts_have_a_total_and_levels_no_saturation(tiny):
    rows = [{"t_ns": 100 * MS * i, "dt_ns": 100 * MS, "listen_drops": i} for i in (1, 2, 3)]
    observed = tiny({"tcp": rows})
    (found,) = found_in(observed, "tcp", "listen drops")
    assert (found.total, found.peak, found.saturated) == (6, 3, None)


def test_a_servers_processes_are_summed_and_its_threads_left_out(tiny):
    row = {"t_ns": 100 * MS, "dt_ns": 100 * MS, "subject": "web.1", "name": "httpd"}
    rows = [
        {**row, "process": 1, "run_ns": 20 * MS},
        {**row, "process": 2, "run_ns": 30 * MS},
        {**row, "process": 2, "thread": 5, "run_ns": 30 * MS},
    ]
    observed = tiny({"process": rows})
    (found,) = found_in(observed, "process", "running")
    assert found.mean == pytest.approx(0.5)


def test_timelines_keep_gaps(tiny):
    observed = tiny({"cpu": [cpu(100, 100, 0.1), cpu(200, 100, None), cpu(300, 100, 0.3)]})
    (found,) = timelines(observed.db, observed.measured, metric("cpu", "busy"))
    assert found.t_ns.tolist() == [50 * MS, 150 * MS, 250 * MS]  # the ticks' middles
    assert np.isnan(found.value).tolist() == [False, True, False]


def test_driver_lag_and_its_verdict(tiny):
    def sent(lag_ms):
        return {"intended_ns": 100 * MS, "start_ns": (100 + lag_ms) * MS, "end_ns": 500 * MS}

    prompt = tiny({"requests": [sent(0), sent(2)]})
    found = driver(prompt.db, prompt.measured, 100 * MS, 1_000 * MS)
    assert (found.was_bottleneck, found.cpu_share) == (False, 0.1)
    busy = driver(prompt.db, prompt.measured, 950 * MS, 1_000 * MS)
    assert busy.was_bottleneck
    late = tiny({"requests": [sent(0), sent(300), sent(300)]})
    found = driver(late.db, late.measured, None, 1_000 * MS)
    assert found.was_bottleneck
    assert found.cpu_share is None
    assert found.lag.max_s == pytest.approx(0.3)
    kinds = ["refused", "no_address", "image_no_descriptors", "static_no_address"]
    short = tiny({"requests": [{**sent(0), "error": kind} for kind in kinds]})
    found = driver(short.db, short.measured, None, 1_000 * MS)
    assert "could not open 3 connections" in found.reason


@pytest.mark.parametrize(
    ("count", "late", "response_ms", "was_bottleneck"),
    [
        (20, 1, 10_000, False),  # long queries: 1 in 20 is no 1 in 100, and 8 ms are no share
        (20, 5, 10_000, False),
        (20, 1, 10, False),
        (20, 2, 10, True),
        (1_000, 20, 10, True),
        (1_000, 9, 10, False),
    ],
)
def test_a_driver_is_late_by_a_hundredth_of_the_requests_and_by_what_they_take(
    tiny, count, late, response_ms, was_bottleneck
):
    rows = [
        {"intended_ns": n * MS, "start_ns": (n + 8 * (n < late)) * MS}
        | {"end_ns": (n + response_ms) * MS}
        for n in range(count)
    ]
    observed = tiny({"requests": rows}, seconds=2.0)
    found = driver(observed.db, observed.measured, None, 2_000 * MS)
    assert found.was_bottleneck == was_bottleneck
    if was_bottleneck:
        assert found.reason == f"{late} of {count:,} requests were sent more than 5 ms late"


def test_the_drivers_cpu_is_that_of_the_runtime(tiny):
    request = {"intended_ns": 100 * MS, "start_ns": 100 * MS, "end_ns": 500 * MS}
    second = {"kind": "driver_lag", "subject": "driver", "duration_ns": 500 * MS}
    records = [
        {**second, "t_ns": -500 * MS, "detail": '{"cpu_ns": 0}'},  # the ramp-up
        {**second, "t_ns": 0, "detail": f'{{"cpu_ns": {480 * MS}}}'},
        {**second, "t_ns": 500 * MS, "detail": "broken"},
    ]
    recorded = tiny({"requests": [request], "events": records})
    found = driver(recorded.db, recorded.measured, 100 * MS, 1_000 * MS)
    assert (found.cpu_share, found.was_bottleneck) == (0.96, True)


@pytest.mark.parametrize(("busiest_ms", "was_bottleneck"), [(800, False), (900, True)])
def test_a_driver_on_two_cores_is_judged_by_its_busiest_thread(tiny, busiest_ms, was_bottleneck):
    request = {"intended_ns": 100 * MS, "start_ns": 100 * MS, "end_ns": 500 * MS}
    detail = f'{{"cpu_ns": {1_500 * MS}, "busiest_thread_cpu_ns": {busiest_ms * MS}}}'
    second = {"kind": "driver_lag", "subject": "driver", "duration_ns": 1_000 * MS}
    recorded = tiny({"requests": [request], "events": [{**second, "t_ns": 0, "detail": detail}]})
    found = driver(recorded.db, recorded.measured, 1_500 * MS, 1_000 * MS)
    assert (found.cpu_share, found.was_bottleneck) == (1.5, was_bottleneck)


def test_the_drivers_cpu_of_a_block_is_even_within_its_records(tiny):
    record = {"kind": "driver_lag", "subject": "driver", "duration_ns": 1_000 * MS}
    records = [
        {**record, "t_ns": at * MS, "detail": f'{{"cpu_ns": {cpu * MS}}}'}
        for at, cpu in ((-500, 100), (500, 300))
    ]
    observed = tiny({"events": records}, seconds=1.5)
    found = cpu_by_block(observed.db, observed.measured, 3)
    assert found.tolist() == pytest.approx([0.05, 0.15, 0.15])
    assert cpu_by_block(observed.db, Span(0, 1_600 * MS), 3) is None


def test_lag_over_time_is_the_longest_of_each_window(tiny):
    sent = [(0, 3), (10, 1), (120, 40)]
    rows = [{"intended_ns": at * MS, "start_ns": (at + lag) * MS} for at, lag in sent]
    observed = tiny({"requests": rows})
    middles, lag = lag_over_time(observed.db, Span(0, 300 * MS), 100 * MS)
    assert middles.tolist() == [50 * MS, 150 * MS, 250 * MS]
    assert lag[:2].tolist() == pytest.approx([0.003, 0.040])
    assert np.isnan(lag[2])


def test_observation_is_the_sampler_and_the_tracer():
    given = Observation(costs={"drive": 5_000, "sample": 10, "capture": 30, "link": 9_000})
    found = observation_cost(given, 1_000, 2)
    assert found.core_share == pytest.approx(0.04)
    assert found.machine_share == pytest.approx(0.02)
    unknown = observation_cost(Observation(), 1_000, 2)
    assert unknown.core_share is None
    assert unknown.agents == []


def test_cpu_is_divided_between_servers_agents_and_others(made):
    summary = summarise(made)
    use = summary.cpu
    assert use.cores == 2
    assert use.busy == pytest.approx(0.9, rel=0.1)
    assert use.other == pytest.approx(max(0.0, use.busy - use.servers - use.agents))
    blind = [each.model_copy(update={"cpu": None}) for each in summary.servers]
    assert cpu_use(summary.resources, blind, 0.0) is None
    assert cpu_use(summary.resources, summary.servers, None) is None


def test_a_long_quiet_ramp_up_makes_no_other_work(tiny):
    """The driver used 0.6 of a core in the runtime, a tenth of the trial, and nothing before."""
    ramp = {"name": "ramp_up", "start_ns": -9_000 * MS, "end_ns": 0}
    runtime = {"name": "runtime", "start_ns": 0, "end_ns": 1_000 * MS}
    record = {"kind": "driver_lag", "subject": "driver", "duration_ns": 1_000 * MS}
    records = [{**record, "t_ns": t * 1_000 * MS, "detail": '{"cpu_ns": 0}'} for t in range(-9, 0)]
    records.append({**record, "t_ns": 0, "detail": f'{{"cpu_ns": {600 * MS}}}'})
    costs = {"drive": 600 * MS, "sample": 100 * MS, "capture": 200 * MS, "link": 10**12}
    observed = tiny(
        {"cpu": [cpu(500, 500, 0.7)], "events": records},
        phases=[ramp, runtime],
        observation={"costs": costs},
    )
    summary = summarise(observed)
    assert summary.cpu.agents == pytest.approx(0.6 + 0.01 + 0.02)
    assert summary.cpu.other == pytest.approx(0.7 - 0.63)
    assert not any("Other work" in each for each in summary.caveats)


def test_agents_without_records_use_their_mean_over_the_trial():
    costs = {"drive": 500, "sample": 10, "capture": 90, "link": 9_000}
    assert agents_use(costs, 1_000, None) == pytest.approx(0.6)
    assert agents_use(costs, 0, 0.5) is None


def test_other_work_on_the_machine_is_said(tiny):
    tick = {"t_ns": 500 * MS, "dt_ns": 500 * MS, "subject": "db.1"}
    part = {"tier": "db", "server": "mariadb", "address": "::1", "port": 1, "protocol": "mysql"}
    observed = tiny(
        {"cpu": [cpu(500, 500, 0.9)], "domain": [{**tick, "cpu_ns": 100 * MS}]},
        servers={"db.1": part},
        observation={"costs": {"sample": 100 * MS, "link": 10**12}},
    )
    summary = summarise(observed)
    assert summary.cpu.other == pytest.approx(0.9 - 0.2 - 0.1)
    assert any("Other work used 0.6 of this machine's 1 cores" in each for each in summary.caveats)


def test_events_are_counted_and_joined(tiny):
    def event(t_ms, kind="syn_retransmission", duration_ms=0):
        row = {"t_ns": t_ms * MS, "duration_ns": duration_ms * MS}
        return {**row, "kind": kind, "subject": "web.1"}

    rows = [event(10), event(150), event(500), event(20, "late_tick", 7), event(0, "phase", 900)]
    rows += [event(at, "driver_lag", 1_000) for at in (0, 1_000)]
    observed = tiny({"events": rows})
    counted = {
        each.kind: (each.count, each.longest_s)
        for each in event_counts(observed.db, observed.measured)
    }
    assert counted == {"syn_retransmission": (3, 0.0), "late_tick": (1, 0.007)}
    joined = [
        (e.kind, e.start_ns // MS, e.end_ns // MS, e.count)
        for e in episodes(observed.db, observed.measured)
    ]
    assert joined == [
        ("syn_retransmission", 10, 150, 2),
        ("late_tick", 20, 27, 1),
        ("syn_retransmission", 500, 500, 1),
    ]


def test_many_events_become_few_episodes(tiny):
    rows = [{"t_ns": 300 * MS * i, "kind": "gap", "subject": "web.1"} for i in range(2_000)]
    observed = tiny({"events": rows}, seconds=600)
    found = episodes(observed.db, observed.measured)
    assert len(found) <= 400
    assert sum(each.count for each in found) == 2_000
