"""One page's requests by users, PUs and systems, and programs' shares, from given trials."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "bench" / "analyse"))

import made_run

from tests.profile import made_profile
from tests.studies.made_cases import trial
from tierlab.analysis.comparing.blocks import BINS, bin_of
from tierlab.studies.cases import Case, Cases, Trial
from tierlab.studies.gather import gather
from tierlab.studies.measured import Measured
from tierlab.studies.measures import OVER_CASES
from tierlab.studies.published import Printed, Published
from tierlab.tables.manifest import ServerPart

SECONDS = 10


def searched(
    per_second: float,
    response_s: float,
    *,
    cpu_s: float | None = None,
    page: str = "TagSearch",
    programs: Mapping[str, Mapping[str, int]] | None = None,
) -> Trial:
    """A trial with as many searches a second, all of one length, among twice as many requests."""
    made = trial([2 * per_second] * SECONDS, cpu_s=cpu_s)
    times = np.zeros((SECONDS, BINS))
    times[:, bin_of(np.array([response_s]))[0]] = per_second
    others = np.zeros((SECONDS, BINS))
    others[:, bin_of(np.array([10 * response_s]))[0]] = per_second
    cut = replace(made.blocks, times={page: times, page.replace("TagSearch", "HomePage"): others})
    return replace(made, blocks=cut, programs=programs or {})


def taken(measure: str, *cases: tuple[dict[str, Any], Trial]) -> Measured:
    of = [Case(str(levels), {}, levels, [made], None) for levels, made in cases]
    return OVER_CASES[measure].take(Cases(of))


def test_searches_that_come_as_their_users_do_are_linear() -> None:
    few, many = ({"load.users": count} for count in (100, 300))
    found = taken("searches by users", (few, searched(5, 0.01)), (many, searched(15, 0.01)))
    assert found.value == pytest.approx(1)
    assert found.words == "1.00: 50/s of 1,000 (300 users) and 50/s of 1,000 (100)"
    lost = taken("searches by users", (few, searched(5, 0.01)), (many, searched(12, 0.01)))
    assert lost.value == pytest.approx(0.8)


def test_what_all_servers_use_is_told_by_the_user() -> None:
    few, many = ({"load.users": count} for count in (100, 200))
    found = taken(
        "cpu by users", (few, searched(5, 0.01, cpu_s=0.01)), (many, searched(10, 0.01, cpu_s=0.02))
    )
    assert found.value == pytest.approx(2)
    assert found.words == "2.00: 2 PUs of 1,000 (200 users) and 1 PUs of 1,000 (100)"


def test_twice_the_pus_that_are_as_busy_in_all_are_half_as_busy_each() -> None:
    one, two = ({"system.app.mapping.pus": pus} for pus in ([0], [0, 1]))
    cases = [(one, searched(10, 0.02, cpu_s=0.01)), (two, searched(10, 0.015, cpu_s=0.01))]
    assert taken("searches by pus", *cases).value == pytest.approx(1)
    # The response times of a trial are kept in bins of 1 %.
    assert taken("search response by pus", *cases).value == pytest.approx(0.75, rel=0.01)
    assert taken("cpu of each pu", *cases).value == pytest.approx(0.5)


def test_each_of_four_systems_is_held_against_one_alone() -> None:
    one, four = ({"system.site.count": count} for count in (1, 4))
    cases = [
        (one, searched(10, 0.02, cpu_s=0.01)),
        (four, searched(38, 0.05, cpu_s=0.01, page="site.2: TagSearch")),
    ]
    assert taken("searches by systems", *cases).value == pytest.approx(0.95)
    assert taken("search response by systems", *cases).value == pytest.approx(2.5, rel=0.01)
    assert taken("cpu by systems", *cases).value == pytest.approx(3.8)


@pytest.mark.parametrize(
    "measure", ["searches by users", "cpu by users", "searches by pus", "cpu by systems"]
)
def test_what_only_one_case_has_is_not_measured(measure: str) -> None:
    levels = {"load.users": 1, "system.app.mapping.pus": [0], "system.site.count": 1}
    assert taken(measure, (levels, searched(1, 1))).value is None


def test_programs_shares_are_those_of_a_domains_tiers() -> None:
    made = searched(
        1,
        1,
        programs={
            "web.1": {"nginx": 20, "[kernel]": 10},
            "app.1": {"php-fpm8.2": 60, "[kernel]": 10},
            "db.1": {"mariadbd": 90, "[kernel]": 5},
            "geocoder.1": {"apache2": 5},
            "cache.1": {"memcached": 50},
        },
    )
    software = ("nginx", "php-fpm", "mariadb", "httpd-php", "memcached")
    servers = {
        name: ServerPart(
            tier=name[:-2], server=server, address="127.0.0.1", port=1, protocol="http"
        )
        for name, server in zip(made.programs, software, strict=True)
    }
    made = replace(made, manifest=made.manifest.model_copy(update={"servers": servers}))
    php = taken("php over nginx", ({}, made))
    assert php.value == pytest.approx(3)
    assert php.words == "3.00: php-fpm8.2 60.0 %, nginx 20.0 %, [kernel] 20.0 %"
    assert taken("database's share", ({}, made)).value == pytest.approx(0.9)
    assert taken("database's share", ({}, searched(1, 1))).value is None


def test_a_trial_has_its_profiles_programs_by_their_names(tmp_path: Path) -> None:
    folder = tmp_path / "x" / "001"
    folder.mkdir(parents=True)
    made_run.make(folder, made_run.Shape(requests=300, users=60))
    made_profile.add(folder)
    (case,) = gather(
        tmp_path / "x", Published.model_construct(cases=[Printed(name="c", levels={})], run_s=None)
    ).cases
    (found,) = case.trials
    assert {
        domain: {name: count // made_profile.TEN_MS for name, count in programs.items()}
        for domain, programs in found.programs.items()
    } == {"app.1": {"[JIT]": 6, "libc.so.6": 4}, "db.1": {"mariadbd": 10}}
    assert taken("database's share", ({}, found)).value == 1
