"""More work than CPU time: the first words say so, with the load that could be carried."""

from __future__ import annotations

import json

import pytest

from tierlab.diagnosis.causes import overload
from tierlab.tables.manifest import Phase

from . import made_overload, made_stall
from .made_overload import FULL, MOST, THINK_S
from .made_stall import MS
from .signatures import diagnosed
from .test_echoes import context

DEAR = "GET /search"
MADE = {"users": {}, "cold start": {"cold": 3.0}, "expensive": {"dear": DEAR}}


@pytest.fixture(scope="module")
def diagnoses(tmp_path_factory):
    """The diagnosis of a made run for each kind of demand."""
    folder = tmp_path_factory.mktemp("overloads")
    return {
        kind: diagnosed(made_overload.make(folder / kind, **made)) for kind, made in MADE.items()
    }


def test_an_overload_is_said_first_and_is_no_pool(diagnoses):
    """All connections were in use and requests waited for one: the answer was an exhausted pool,
    with a confidence of 0.97, while both CPUs were busy for 28 s.
    """
    found = diagnoses["users"]
    assert [(each.cause, each.subject) for each in found.findings] == [("overload", "app.1")]
    assert found.words.startswith("The system is overloaded: ")
    (finding,) = found.findings
    (window,) = finding.windows
    assert abs(window.start_ns - FULL[0]) <= 300_000_000
    assert abs(window.end_ns - FULL[1]) <= 300_000_000
    assert finding.confidence >= 0.9
    assert "pool" in {each.cause for each in finding.ruled_out}


@pytest.mark.parametrize("pus", [2, 16, 64])
def test_an_overload_of_many_cpus_is_no_neighbour_s(tmp_path, pus):
    """A percent of 64 CPUs is more than half of one, which nobody served: it was a neighbour's."""
    found = diagnosed(made_overload.make(tmp_path, pus=pus))
    assert [(each.cause, each.subject) for each in found.findings] == [("overload", "app.1")]


def test_an_overload_of_the_cpus_that_a_change_left_is_found(tmp_path):
    """Servers on four CPUs, then on two of these: the two were full, and of four half was idle."""
    folder = made_overload.make(tmp_path)
    cpu = made_stall.read(folder, "cpu")
    idle = [row | {"subject": f"cpu{n}", "busy": 0.02} for row in cpu[::2] for n in (2, 3)]
    made_stall.write(folder, "cpu", cpu + idle)
    found = {name: {"found": {"pus": [0, 1, 2, 3]}} for name in made_overload.SERVERS}
    made_overload.manifest().model_copy(update={"mapping": found}).write(folder)
    detail = json.dumps({"asked": {"pus": [0, 1]}, "found": {"pus": [0, 1]}})
    change = {"t_ns": FULL[0] - 3_000_000_000, "duration_ns": 0, "kind": "change"}
    events = [change | {"subject": name, "detail": detail} for name in made_overload.SERVERS]
    made_stall.write(folder, "events", events)
    (finding,) = diagnosed(folder).findings
    (window,) = finding.windows
    assert (finding.cause, finding.subject) == ("overload", "app.1")
    assert abs(window.end_ns - FULL[1]) <= 300_000_000
    assert finding.demand is not None, "it lasted, and was told as a stall"


def test_an_idle_disk_beside_full_cpus_hides_no_overload(tmp_path):
    """Where no place was read back, its busy share was averaged with the CPUs'."""
    folder = made_overload.make(tmp_path)
    cpu = [row for row in made_stall.read(folder, "cpu") if row["subject"] == "cpu0"]
    idle = [{"t_ns": row["t_ns"], "dt_ns": row["dt_ns"], "subject": "vda"} for row in cpu]
    made_stall.write(folder, "disk", [row | {"busy": 0.01} for row in idle])
    (finding,) = diagnosed(folder).findings
    (window,) = finding.windows
    assert (finding.cause, finding.subject) == ("overload", "app.1")
    assert abs(window.end_ns - FULL[1]) <= 300_000_000
    assert finding.demand is not None, "it lasted, and was told as a stall"


def test_who_waits_for_an_overloaded_server_need_not_want_the_cpu_itself(tmp_path):
    """A cold start at 0.93 of RUBBoS' capacity: web.1's workers all waited for answers of app.1,
    which got no CPU for 98 % of the time. web.1 itself got it when it wanted, for 78 % of it; so an
    overload was ruled out, and it was a pool at web.1.
    """
    folder = made_overload.make(tmp_path)
    rows = made_stall.read(folder, "pressure")
    of_web = {"subject": "web.1", "resource": "cpu"}.items()
    pressed = [row | {"some": 0.22} if of_web <= row.items() else row for row in rows]
    made_stall.write(folder, "pressure", pressed)
    suspect = overload.judge(context(folder, "web.1"))
    assert (suspect.subject, suspect.least) == ("app.1", 1.0)


def demand(diagnoses, kind):
    (finding,) = diagnoses[kind].findings
    assert finding.demand is not None
    return finding.demand


def test_the_load_that_it_could_carry(diagnoses):
    can = demand(diagnoses, "users").capacity
    assert can.throughput == pytest.approx(MOST, rel=0.03)
    assert can.users == pytest.approx(MOST * (THINK_S + 0.01), rel=0.03)
    assert can.users_low <= can.users <= can.users_high
    assert f"can carry about {can.users:.0f} users" in diagnoses["users"].words
    assert "700 came" in diagnoses["users"].words


def test_an_overload_that_began_in_the_ramp_up_tells_what_could_be_carried(tmp_path):
    """Two full seconds of the runtime are too few to count by, and seven came before them."""
    folder = made_overload.make(tmp_path)
    manifest = made_overload.manifest()
    begin, end = FULL[1] - 2_500_000_000, manifest.phases[0].end_ns
    ramp_up = Phase(name="ramp-up", start_ns=made_stall.START, end_ns=begin)
    runtime = Phase(name="runtime", start_ns=begin, end_ns=end)
    manifest.model_copy(update={"phases": [ramp_up, runtime]}).write(folder)
    (finding,) = diagnosed(folder).findings
    (window,) = finding.windows
    assert window.start_ns >= begin
    assert finding.demand.capacity.throughput == pytest.approx(MOST, rel=0.03)


def test_an_overload_from_the_ramp_up_to_the_end_is_found(tmp_path, monkeypatch):
    """Fewer than one request in twenty was served at once: long was what is usual, and what could
    be carried was as much as came.
    """
    length, start = 110_000 * MS, made_stall.START
    monkeypatch.setattr(made_overload, "LENGTH", length)
    monkeypatch.setattr(made_overload, "FULL", (start + 1_000 * MS, start + length))
    folder = made_overload.make(tmp_path)
    begin = start + 8_000 * MS
    ramp_up = Phase(name="ramp-up", start_ns=start, end_ns=begin)
    runtime = Phase(name="runtime", start_ns=begin, end_ns=start + length)
    manifest = made_overload.manifest()
    manifest.model_copy(update={"phases": [ramp_up, runtime]}).write(folder)
    found = diagnosed(folder)
    assert found.words.startswith("The system is overloaded: ")
    (finding,) = found.findings
    (window,) = finding.windows
    assert abs(window.start_ns - begin) <= 300 * MS
    assert abs(window.end_ns - (start + length)) <= 300 * MS
    assert finding.demand.capacity.users == pytest.approx(MOST * (THINK_S + 0.01), rel=0.03)


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("users", "more users than it can serve"),
        ("cold start", "It was cold: a visit took"),
        (
            "expensive",
            f"One kind of request is expensive: the share of the visits' time that {DEAR}",
        ),
    ],
)
def test_what_made_the_demand_is_told(diagnoses, kind, said):
    assert demand(diagnoses, kind).kind == kind
    assert said in diagnoses[kind].words


def test_a_gain_in_share_is_told_in_points(diagnoses):
    """From none of the time to half of it was "50% more"."""
    gained = demand(diagnoses, "expensive").label_gained
    words = f"took was {100 * gained:.0f} percentage points higher than otherwise"
    assert words in diagnoses["expensive"].words


def test_requests_that_cost_more_at_every_server_are_told(diagnoses, tmp_path):
    """That they cost what they usually cost was said of a machine that was slower for seconds."""
    slower = diagnosed(made_overload.make(tmp_path, slower=1.25))
    assert slower.findings[0].demand.cost_ratio == pytest.approx(1.25, rel=0.03)
    assert "At every server a visit took 1.2" in slower.words
    assert demand(diagnoses, "users").cost_ratio == pytest.approx(1.0, rel=0.03)


def test_full_cpus_are_those_that_a_server_may_run_on(tmp_path):
    """The database has a CPU of its own, and the application, which uses more, has room."""
    folder = made_overload.make(tmp_path)
    rows = made_stall.read(folder, "cpu")
    idle = [row | {"busy": 0.6} if row["subject"] == "cpu1" else row for row in rows]
    made_stall.write(folder, "cpu", idle)
    for table, column in (("domain", "cpu_ns"), ("process", "run_ns")):
        times = {"web.1": 0, "app.1": 1, "db.1": 2}
        rows = made_stall.read(folder, table)
        rows = [row | {column: row[column] * times[row["subject"]]} for row in rows]
        made_stall.write(folder, table, rows)
    places = {"web.1": [1], "app.1": [1], "db.1": [0]}
    mapping = {name: {"found": {"pus": pus}} for name, pus in places.items()}
    made_overload.manifest().model_copy(update={"mapping": mapping}).write(folder)
    first = diagnosed(folder).findings[0]
    assert (first.cause, first.subject) == ("overload", "db.1")
    assert "its only CPU was 100% busy" in first.words


def test_once_warm_it_can_carry_what_fits_its_cpus(diagnoses):
    """After a cold start 50 requests a second kept the CPUs busy for 0.62 of the time."""
    cold = demand(diagnoses, "cold start")
    assert cold.cost_s == pytest.approx(3 * cold.later_cost_s, rel=0.15)
    assert cold.capacity.throughput == pytest.approx(50 / 0.62, rel=0.05)


@pytest.mark.parametrize(
    ("percent", "driver_cores", "interrupts", "said"),
    [(54, 0.5, 0.15, ["overload"]), (54, 0.0, 0.0, []), (15, 1.5, 0.1, [])],
    ids=["the rest is the laboratory's", "nobody knows whose the rest is", "the driver has most"],
)
def test_what_the_laboratory_and_packets_take_is_no_neighbours(
    tmp_path, percent, driver_cores, interrupts, said
):
    """RUBiS at more users than two cores serve: the servers had half of the CPUs' time, the driver
    a fifth and packets an eighth, and nothing was said of an overload.
    """
    folder = made_overload.make(tmp_path)
    for table, column in (("domain", "cpu_ns"), ("process", "run_ns")):
        rows = made_stall.read(folder, table)
        rows = [row | {column: row[column] * percent // 100} for row in rows]
        made_stall.write(folder, table, rows)
    rows = [row | {"irq": interrupts} for row in made_stall.read(folder, "cpu")]
    made_stall.write(folder, "cpu", rows)
    known = made_overload.manifest()
    costs = {"drive": int(driver_cores * made_overload.LENGTH)}
    observation = known.observation.model_copy(update={"costs": costs})
    known.model_copy(update={"observation": observation}).write(folder)
    causes = [each.cause for each in diagnosed(folder).findings]
    assert [each for each in causes if each == "overload"] == said
