"""Requests to further servers: each has connections of its own, and replies lead from one to the
other.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from .driving import Driver, target
from .test_drive_browser import Site, serving, workload
from .test_drive_connections import connections


def to(name: str, path: str, server: str | None = None, **more: Any) -> dict[str, Any]:
    return {"name": name, "path": path, "server": server, **more}


STEPS = (to("page", "/page"), to("api", "/items", "api"), to("again", "/page"), to("b", "/b", "b"))


def lines(log: Path) -> list[list[str]]:
    return [line.split("\t") for line in log.read_text().splitlines()]


def test_each_server_gets_its_own_steps_over_one_connection_a_session(
    site, drive: Driver, tmp_path: Path
) -> None:
    logs = {name: tmp_path / f"{name}.log" for name in ("site", "api", "b")}
    ports = {name: site("--log", str(log)) for name, log in logs.items()}
    driven = drive(
        ports["site"],
        workload(*STEPS),
        users=7,
        seconds=0.6,
        connection="keep_alive",
        servers={name: [target(ports[name])] for name in ("api", "b")},
    )
    requests = driven.requests
    assert requests.error.dropna().isin(["cut"]).all()
    assert {each[1] for each in lines(logs["site"])} == {"/page"}
    assert {each[1] for each in lines(logs["api"])} == {"/items"}
    assert {each[1] for each in lines(logs["b"])} == {"/b"}
    sessions = requests[requests.interaction == "b"].session.nunique()
    assert sessions >= 7
    for name, log in logs.items():
        opened = len(set(connections(log)))
        assert sessions <= opened <= requests.session.nunique(), name
    ids = {each[4] for log in logs.values() for each in lines(log)}
    assert set(requests[requests.error.isna()].request_id) <= ids


def test_each_request_has_a_connection_of_its_own_where_none_is_kept(
    site, drive: Driver, tmp_path: Path
) -> None:
    log = tmp_path / "api.log"
    port = site("--log", str(log))
    driven = drive(site(), workload(*STEPS[:3]), servers={"api": [target(port)]}, users=5)
    assert driven.requests.error.dropna().isin(["cut"]).all()
    used = connections(log)
    assert len(used) > 5
    assert len(set(used)) == len(used)


def test_users_take_turns_at_the_instances_of_a_further_server(
    site, drive: Driver, tmp_path: Path
) -> None:
    logs = [tmp_path / "0.log", tmp_path / "1.log"]
    targets = [target(site("--log", str(log))) for log in logs]
    requests = drive(
        site(), workload(*STEPS[:2]), users=6, threads=2, servers={"api": targets}
    ).requests
    api = requests[(requests.interaction == "api") & requests.error.isna()]
    for user, ids in api.groupby("user").request_id:
        assert set(ids) <= {each[4] for each in lines(logs[user % 2])}
    assert set(api.user) == set(range(6))


@pytest.mark.parametrize("redirects", ["own", "within"])
@pytest.mark.parametrize("connection", ["keep_alive", "per_request"])
def test_a_reply_leads_from_one_server_to_the_other_and_back(
    redirects: str, connection: str, drive: Driver
) -> None:
    api_pages: dict[str, Any] = {"/login": (302, "")}
    with serving({"/": (200, "home")}) as (port, asked), serving(api_pages) as (api, of_api):
        api_pages["/login"] = (302, f"http://127.0.0.1:{port}/welcome?x=1")
        steps = (to("home", "/"), to("login", "/login", "api", method="POST"))
        requests = drive(
            port,
            workload(*steps, redirects=redirects),
            servers={"api": [target(api)]},
            connection=connection,
            users=3,
            seconds=0.5,
        ).requests
    assert requests.error.dropna().isin(["cut"]).all()
    assert {each[:2] for each in of_api} == {("POST", "/login")}
    assert {each[:2] for each in asked} == {("GET", "/"), ("GET", "/welcome?x=1")}


def test_a_request_names_the_server_it_is_for_and_the_site_it_comes_from(
    drive: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: set[tuple[str, str | None]] = set()
    answer = Site.answer

    def noting(self: Site) -> None:
        seen.add((self.headers["Host"], self.headers["Origin"]))
        answer(self)

    monkeypatch.setattr(Site, "do_GET", noting)
    with serving({}) as (port, _), serving({}) as (api, _):
        steps = (to("page", "/"), to("api", "/items", "api", origin=True))
        named = {**target(api), "host": "api.example"}
        drive(port, workload(*steps), servers={"api": [named]}, users=2, seconds=0.3)
    assert seen == {
        (f"127.0.0.1:{port}", None),
        ("api.example", f"http://127.0.0.1:{port}"),
    }


@pytest.mark.parametrize(
    ("steps", "servers", "sentence"),
    [
        (STEPS[:2], {}, 'state "api" asks the server "api", which the plan\'s `servers` lack'),
        (STEPS[:2], {"api": []}, "`servers.api` must list at least one"),
        (
            STEPS[:2],
            {"api": [{"address": "::1", "port": 1, "host": None}]},
            "`servers.api` must have addresses of the family that `targets` have",
        ),
        (
            [to("page", "/"), to("next", "/", "api", follow={})],
            {"api": [target(1)]},
            "`server` goes with a `path`, not with `follow` or `statements`",
        ),
    ],
)
def test_what_is_no_server_of_the_plan_is_named(
    steps: Any, servers: dict[str, Any], sentence: str, drive: Driver
) -> None:
    driven = drive.end(drive.start(1, workload(*steps), servers=servers))
    assert driven.status != 0
    assert sentence in driven.said
