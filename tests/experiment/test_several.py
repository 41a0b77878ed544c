"""Several systems in one experiment."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tierlab.deploy.layout import layout, topology
from tierlab.environments.addresses import LOOPBACK
from tierlab.errors import UserError
from tierlab.experiment import Experiment, TrialPlan, load
from tierlab.experiment.publish import schema
from tierlab.observe import plans
from tierlab.servers.database import Credentials
from tierlab.topology import Topology

VALIDATOR = Draft202012Validator(schema())
LOGIN = Credentials("u", "p", "d")
TWO: dict[str, Any] = {
    "experiment": {"name": "two", "seed": 3},
    "system": [
        {"name": "shop", "workload": "rubis", "load": {"users": 60}},
        {
            "name": "board",
            "workload": "rubbos",
            "web": {"count": 2},
            "load": {"users": 40, "mix": "browse-only", "think": "1s"},
        },
    ],
    "load": {"phases": {"runtime": "9s"}},
}
FILE = """
experiment = {name = "two"}
load = {phases = {runtime = "9s"}}
[[system]]
name = "shop"
workload = "rubis"
[system.load]
users = 60
[[system]]
name = "board"
workload = "rubbos"
[system.load]
users = 40
"""

Change = Callable[[dict[str, Any]], object]


def trial(document: dict[str, Any] = TWO) -> TrialPlan:
    (plan,) = Experiment.from_tables(document, "f.toml").trials()
    return plan


def test_each_has_its_own_tiers_and_users_and_all_have_the_phases() -> None:
    shop, board = trial().systems
    assert (shop.name, shop.system.workload, shop.load.users) == ("shop", "rubis", 60)
    assert (board.name, board.system.workload, board.load.users) == ("board", "rubbos", 40)
    assert (shop.load.mix, board.load.mix, board.load.think_ns) == ("bidding", "browse-only", 10**9)
    assert {each.load.phases.runtime_ns for each in (shop, board)} == {9 * 10**9}
    assert [each.system.tiers["web"].count for each in (shop, board)] == [1, 2]


def test_its_plan_is_a_file_that_runs_again() -> None:
    file = trial().as_file()
    VALIDATOR.validate(TWO)
    VALIDATOR.validate(file)
    assert trial(file).systems == trial().systems
    assert trial(file).as_file() == file


def test_all_are_in_the_environment_that_the_command_line_names(tmp_path: Path) -> None:
    path = tmp_path / "two.toml"
    path.write_text(FILE)
    (plan,) = load(path, environment="podman").trials()
    assert [each.system.environment for each in plan.systems] == ["podman", "podman"]


def test_no_two_servers_have_a_name_or_an_address_in_common_and_nobody_calls_across() -> None:
    found, before = [], 0
    for each in trial().systems:
        found.append(layout(each.system, LOOPBACK, each.name, before))
        before += len(each.system.tiers)
    shop, board = found
    assert list(shop) == ["shop.web.1", "shop.app.1", "shop.db.1"]
    assert len({place.endpoint.address for place in (shop | board).values()}) == len(shop | board)
    graph = Topology.of(
        [topology(each.system, places) for each, places in zip(trial().systems, found, strict=True)]
    )
    assert graph.entries == ["shop.web.1", "board.web.1", "board.web.2"]
    assert graph.below("shop.web.1") == {"shop.app.1", "shop.db.1"}
    assert graph.callees("board.web.2") == ["board.app.1"]
    assert graph.tier_of["board.web.2"] == "board.web"


def test_no_two_users_are_alike(tmp_path: Path) -> None:
    plan = trial()
    shop, board = (
        plans.drive(plan, each, [], tmp_path / "workload.json", LOOPBACK, login=LOGIN)
        for each in plan.systems
    )
    assert (shop["system"], shop["first_user"], shop["users"]) == ("shop", 0, 60)
    assert (board["system"], board["first_user"], board["users"]) == ("board", 60, 40)
    assert shop["phases"] == board["phases"]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda it: it["system"][1].pop("name"), "system[2].name is missing"),
        (
            lambda it: it["system"][1].update(name="shop"),
            "system[2].name is system[1]'s too; give each its own",
        ),
        (
            lambda it: it["system"][0].update(name="The.Shop"),
            "system[1].name must be up to 8 lower-case letters and digits, the first a letter,"
            ' not "The.Shop"',
        ),
        (
            lambda it: it["system"][1]["load"].update(users=0),
            "system[2].load.users must be a whole number from 1 to 1000000, not 0",
        ),
        (
            lambda it: it["system"][0].pop("load"),
            "system[1].load needs either users (closed loop) or rate (open loop)",
        ),
        (
            lambda it: it["system"][0]["load"].update(mix="browse-only"),
            'system[1].load.mix must be "browsing" or "bidding" with workload "rubis"',
        ),
        (
            lambda it: it["load"].update(users=3),
            "load.users is each system's own; say it in the `load` of each",
        ),
        (
            lambda it: it["system"][1]["load"].update(phases={}),
            "system[2].load.phases is the same for all; say it in `load.phases`",
        ),
        (
            lambda it: it["system"][1].update(environment="lxc"),
            'system[2].environment must be "native", as of the first system',
        ),
        (
            lambda it: it["system"][1].update(neighbours={"count": 1}),
            "system[2].neighbours is not there yet for several systems; remove it",
        ),
        (
            lambda it: it.update(disturb=[{"class": "freeze"}]),
            "disturb is not there yet for several systems; remove it",
        ),
        (
            lambda it: it.update(factors={"system.app.count": [1, 2]}),
            'factors."system.app.count" must say of which system, as in "system.shop.load.users"',
        ),
        (
            lambda it: it.update(factors={"system.shop.load.users": [1, 0]}),
            "with system.shop.load.users = 0: system[1].load.users must be a whole number from 1 to"
            " 1000000, not 0",
        ),
        (
            lambda it: it["system"][0].update(count=0),
            "system[1].count must be a whole number from 1 to 8, not 0",
        ),
        (
            lambda it: it["system"][0].update(count=8),
            "system makes 9 systems; at most 8 are run",
        ),
        (
            lambda it: it["system"][0].update(count=2, name="auctions"),
            "system[1].name must be up to 7 lower-case letters and digits, the first a letter, as"
            ' a number follows it, not "auctions"',
        ),
        (
            lambda it: (it["system"][0].update(count=2), it["system"][1].update(name="shop2")),
            "system[2].name is system[1]'s too; give each its own",
        ),
        (
            lambda it: (
                it["system"][0].update(name="b2"),
                it["system"][1].update(name="b", count=2),
            ),
            'system[2].name is system[1]\'s too, as "b2"; give each its own',
        ),
        (
            lambda it: it.update(factors={"system.shop.count": [1, 9]}),
            "with system.shop.count = 9: system[1].count must be a whole number from 1 to 8, not 9",
        ),
        (lambda it: it.update(system=[]), "system must be 1 to 8 tables, not 0"),
        (lambda it: it["system"].insert(0, 7), "system[1] must be a table, not 7"),
    ],
)
def test_what_is_wrong_is_named_in_a_sentence(change: Change, sentence: str) -> None:
    document = copy.deepcopy(TWO)
    change(document)
    with pytest.raises(UserError) as told:
        trial(document)
    assert str(told.value) in (f"f.toml: {sentence}.", f"f.toml {sentence}.")


def test_what_is_common_can_be_crossed_and_what_is_a_systems_own() -> None:
    factors = {"load.phases.runtime": ["5s", "9s"], "system.board.load.users": [40, 80]}
    trials = Experiment.from_tables({**TWO, "factors": factors}).trials()
    assert [each.load.phases.runtime_ns // 10**9 for each in trials] == [5, 5, 9, 9]
    users = [tuple(system.load.users for system in each.systems) for each in trials]
    assert users == [(60, 40), (60, 80)] * 2


def test_a_table_stands_for_as_many_systems_as_it_counts() -> None:
    """How many there are is a factor: consolidation is studied by it."""
    trials = Experiment.from_tables({**TWO, "factors": {"system.shop.count": [1, 3]}}).trials()
    found = [[each.name for each in plan.systems] for plan in trials]
    assert found == [["shop1", "board"], ["shop1", "shop2", "shop3", "board"]]
    first, *alike = trials[1].systems[:3]
    assert all((each.system, each.load) == (first.system, first.load) for each in alike)
    assert trials[1].as_file()["system"][2]["name"] == "shop3"
    assert trial(trials[1].as_file()).systems == trials[1].systems


def test_the_command_line_sets_a_systems_own_key(tmp_path: Path) -> None:
    path = tmp_path / "two.toml"
    path.write_text(FILE)
    (plan,) = load(path, assignments=["system.board.web.count=3"]).trials()
    assert [each.system.tiers["web"].count for each in plan.systems] == [1, 3]
    with pytest.raises(UserError, match=r"several systems \(shop, board\); name one, as in --set"):
        load(path, assignments=["system.web.count=3"])
