"""Wrong `[[disturb]]` tables give one sentence each; the schema refuses what it can see."""

from __future__ import annotations

from typing import Any

import pytest
from bad_values import GOOD
from jsonschema import Draft202012Validator

from tierlab.errors import UserError
from tierlab.experiment import Experiment
from tierlab.experiment.disturb import suited
from tierlab.experiment.disturb_classes import CLASSES, KINDS
from tierlab.experiment.publish import schema
from tierlab.experiment.subjects import existing
from tierlab.servers.base import Server
from tierlab.servers.httpd import Httpd
from tierlab.servers.httpd_php import HttpdPhp
from tierlab.servers.nginx import Nginx
from tierlab.servers.tomcat import Tomcat

VALIDATOR = Draft202012Validator(schema())
WORDS = (
    '"memory", "cpu", "disk", "freeze", "gc", "lock", "pool", "burst", "network", "loss", "quota", '
    '"weight", "restart", "checkpoint", "cold_cache", "slow_clients", "steal" or "random"'
)
FREEZE = {"class": "freeze"}
STATED = FREEZE | {"at": "10s"}
SQUEEZE = STATED | {"class": "memory", "duration": "1s"}

SEEN_BY_THE_SCHEMA: list[tuple[Any, str]] = [
    (3, "disturb must be an array of tables ([[disturb]]), not 3"),
    (FREEZE, 'disturb must be an array of tables ([[disturb]]), not {"class": "freeze"}'),
    ([3], "disturb[1] must be a table with a class, not 3"),
    ([{}], f"disturb[1].class is missing; it is {WORDS}"),
    (
        [{"class": "freez"}],
        f'disturb[1].class must be {WORDS}, not "freez" (did you mean freeze?)',
    ),
    ([{"class": ["freeze"]}], f'disturb[1].class must be {WORDS}, not ["freeze"]'),
    (
        [FREEZE, {"class": "memory", "tak": "1GiB"}],
        "disturb[2].tak is not a known key (did you mean take?); "
        "allowed here: class, at, count, every, gap, on, duration, take, request, leave",
    ),
    (
        [FREEZE | {"on": "db"}],
        'disturb[1].on must be a server of the system, such as "db.1", not "db"',
    ),
    (
        [FREEZE | {"at": 3}],
        'disturb[1].at must be "random" or a duration from "0s" to "24h" '
        "(units: ns, us, ms, s, m, h), not 3",
    ),
]
NOT_SEEN: list[tuple[Any, str]] = [
    (
        [FREEZE, {"class": "memory", "take": "1B"}],
        'disturb[2].take must be a size from "1MiB" to "1TiB" '
        '(units: B, kB, KiB, MB, MiB, GB, GiB, TB, TiB), not "1B"',
    ),
    (
        [FREEZE | {"duration": "11s"}],
        'disturb[1].duration must be a duration from "20ms" to "10s" '
        '(units: ns, us, ms, s, m, h), not "11s"',
    ),
    (
        [FREEZE | {"on": "db.2"}],
        'disturb[1].on for class freeze must be "web.1", "app.1", "lb.1" or "db.1" in this system,'
        ' not "db.2": system.db.count is 1',
    ),
    (
        [{"class": "gc", "on": "db.1"}],
        'disturb[1].on for class gc must be "app.1" in this system, not "db.1"',
    ),
    (
        [{"class": "random", "subjects": ["dv.1"]}],
        'disturb[1].subjects must be out of web.1, app.1, lb.1, db.1, not "dv.1"',
    ),
    (
        [STATED | {"at": "59800ms"}],
        "disturb[1].at must let it end within the runtime of 1m; it may last until 60100ms",
    ),
    (
        [STATED | {"count": 3}],
        'disturb[1].every is missing: it spaces the 3 disturbances ("10s")',
    ),
    (
        [STATED | {"gap": "1s"}],
        'disturb[1].gap goes with at = "random"; with a stated at there is every',
    ),
    (
        [FREEZE | {"every": "1s"}],
        'disturb[1].every goes with a stated at ("20s"); with at = "random" there is gap',
    ),
    (
        [STATED, FREEZE | {"count": 100}],
        "disturb[2] finds no room in the runtime of 1m beside the others, 4s apart; "
        "ask for fewer, a smaller gap or a longer runtime",
    ),
    (
        [{"class": "random", "classes": "none"}],
        'disturb[1].classes leaves nothing to draw from; "all" is the default',
    ),
    (
        [{"class": "random", "classes": ["gc"], "subjects": ["db.1"]}],
        "disturb[1].subjects leaves no server that its classes could disturb",
    ),
    ([{"class": "random", "shortest": "3s"}], "disturb[1].shortest must not be over longest"),
    (
        [{"class": "pool", "on": "db.1", "resource": "threads"}],
        'disturb[1].resource of db.1 must be "max_connections", not "threads"',
    ),
    (
        [STATED | {"duration": "2s"}, STATED | {"at": "11s"}],
        "disturb: two of class freeze on db.1 are less than 50ms apart at 11s; move one, or take"
        " another class or server",
    ),
    (
        [SQUEEZE, SQUEEZE | {"at": "11500ms"}],
        "disturb: two of class memory on db.1 are less than 1s apart at 11500ms; move one, or take"
        " another class or server",
    ),
    (
        [STATED | {"class": "pool", "hold": 100}],
        "disturb[1].hold must be at most system.app.soft.pool, which is 64, not 100",
    ),
]


@pytest.mark.parametrize(("disturb", "sentence"), SEEN_BY_THE_SCHEMA + NOT_SEEN)
def test_one_sentence(disturb: Any, sentence: str) -> None:
    with pytest.raises(UserError) as raised:
        Experiment.from_tables(GOOD | {"disturb": disturb}, "my.toml")

    assert str(raised.value) == f"my.toml: {sentence}."


@pytest.mark.parametrize("disturb", [case for case, _ in SEEN_BY_THE_SCHEMA])
def test_the_schema_refuses_it_too(disturb: Any) -> None:
    assert not VALIDATOR.is_valid(GOOD | {"disturb": disturb})


def test_threads_and_connections_of_one_server_are_held_at_once() -> None:
    pool = STATED | {"class": "pool", "on": "app.1"}
    threads = pool | {"resource": "threads", "hold": 100}

    (plan,) = Experiment.from_tables(GOOD | {"disturb": [pool, threads]}).trials()

    assert len(plan.disturb) == 2


def test_time_to_prepare_is_asked_for() -> None:
    load = {"users": 10, "phases": {"ramp_up": "2s"}}

    with pytest.raises(UserError) as raised:
        Experiment.from_tables(GOOD | {"load": load, "disturb": [FREEZE | {"at": "1s"}]}, "my.toml")

    assert str(raised.value) == (
        "my.toml: disturb[1].at must leave 5s from the start of the load for its preparation; "
        "take a later moment, or a longer load.phases.ramp_up."
    )


@pytest.mark.parametrize("kind", CLASSES)
def test_every_class_has_a_natural_server_and_a_default_for_all_its_keys(kind: str) -> None:
    document = GOOD | {"disturb": [{"class": kind}]}
    VALIDATOR.validate(document)
    (plan,) = Experiment.from_tables(document).trials()

    (drawn,) = plan.disturb
    assert isinstance(drawn.what, KINDS[kind])
    assert drawn.what.on in suited(KINDS[kind], plan.system)
    assert drawn.what.felt(existing(plan.system)[drawn.what.on])


@pytest.mark.parametrize(
    ("software", "felt"), [(Httpd, True), (HttpdPhp, True), (Nginx, False), (Tomcat, False)]
)
def test_slow_clients_are_felt_where_a_connection_needs_a_worker(
    software: type[Server], felt: bool
) -> None:
    assert KINDS["slow_clients"].suits(software)
    assert KINDS["slow_clients"].felt(software) == felt


def test_a_servers_existence_depends_on_the_level() -> None:
    document = GOOD | {
        "disturb": [FREEZE | {"on": "db.2"}],
        "factors": {"system.db.count": [2, 1]},
    }

    with pytest.raises(UserError, match=r"^my.toml with system.db.count = 1: disturb\[1\].on for"):
        Experiment.from_tables(document, "my.toml")
