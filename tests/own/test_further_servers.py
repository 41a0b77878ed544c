"""Recordings of a page on one port and its API on another: both are asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.own.composed import have_images
from tests.own.test_recorded_hosts import call, html, picture, written
from tierlab.cli.main import app
from tierlab.errors import UserError
from tierlab.experiment import Experiment
from tierlab.topology import Seen
from tierlab.trial.find_calls import completed
from tierlab.workloads.own.compose import service
from tierlab.workloads.own.recorded import notes, recorded
from tierlab.workloads.own.site import port_of

SITE, API = "http://localhost:5173", "http://localhost:8000"
SERVERS = {"localhost:8000": "api"}
ENTRIES = (
    html(f"{SITE}/"),
    call(f"{API}/items", Origin=SITE),
    picture(f"{SITE}/logo.png"),
    picture(f"{API}/item.png"),
    call(f"{API}/items/7", "preflight", "OPTIONS", Origin=SITE),
    call(f"{API}/items/7", method="PUT", Origin=SITE),
    html(f"{SITE}/items"),
)


def visit(folder: Path, *more: dict[str, Any]) -> Path:
    return written(folder, *(each.copy() for each in (*ENTRIES, *more)))


def states(file: Path, servers: dict[str, str] = SERVERS) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = recorded([file], {}, own_think=True, servers=servers)["states"]
    return found


def test_steps_to_a_further_server_are_kept_in_their_order(tmp_path: Path) -> None:
    found = states(visit(tmp_path))
    assert [(each["interaction"], each.get("server")) for each in found] == [
        ("GET /", None),
        ("GET /items at api", "api"),
        ("PUT /items/{id} at api", "api"),
        ("GET /items", None),
    ]


def test_the_page_s_server_gets_the_requests_for_what_belongs_to_the_page(tmp_path: Path) -> None:
    """A picture that comes after a request to the API is the page's all the same."""
    found = states(visit(tmp_path))
    assert [each["resources"] for each in found] == [["/logo.png"], [], [], []]


@pytest.mark.parametrize("host", ["localhost:8000", "127.0.0.1:8000", "[::1]:8000"])
def test_a_host_is_known_by_any_of_its_names(tmp_path: Path, host: str) -> None:
    assert len(states(visit(tmp_path), {host: "api"})) == 4


def test_requests_to_a_named_server_are_not_noted_as_left_out(tmp_path: Path) -> None:
    file = visit(tmp_path)
    near, _ = notes([file])
    assert 'servers = { "localhost:8000" = "NAME" }' in near
    (parts,) = notes([file], SERVERS)
    assert parts.startswith("v.har: 1 style, script or picture of localhost:8000 is left out")


def test_what_a_page_has_to_say_is_expected_by_its_path_on_either_server(tmp_path: Path) -> None:
    found = recorded([visit(tmp_path)], {"/items": "x"}, own_think=True, servers=SERVERS)["states"]
    assert [each.get("expect", {}).get("text") for each in found] == [None, "x", None, "x"]


def document(file: Path, **sessions: Any) -> dict[str, Any]:
    return {
        "experiment": {"name": "e"},
        "system": {
            "workload": "own",
            "web": {"command": "sh web.sh {db}", "port": 5173},
            "api": {"command": "sh api.sh {db}", "port": 8000},
            "db": {"server": "postgresql"},
            "sessions": {"har": str(file), "servers": SERVERS, **sessions},
        },
        "load": {"users": 2},
    }


def test_a_server_that_users_call_beside_the_first_needs_no_other_that_calls_it(
    tmp_path: Path,
) -> None:
    asked = document(visit(tmp_path))
    (system,) = Experiment.from_tables(asked, "e").trials()[0].systems
    assert system.system.protocols["api"] == ("http", 8000)
    assert system.system.callees("web") == ("db",)
    del asked["system"]["sessions"]["servers"]
    with pytest.raises(UserError, match="api is called by no server"):
        Experiment.from_tables(asked, "e")


def test_where_no_server_says_whom_it_calls_the_first_is_not_taken_to_call_those_of_users(
    tmp_path: Path,
) -> None:
    asked = document(visit(tmp_path))
    for name in ("web", "api"):
        asked["system"][name]["command"] = f"sh {name}.sh"
    (system,) = Experiment.from_tables(asked, "e").trials()[0].systems
    assert system.system.callees("web") == ("db",)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"servers": {"localhost:8000": "apis"}}, 'names "apis", which is no server of the system'),
        ({"servers": {"localhost:8000": "web"}}, "names web, which is the first server: users"),
        ({"servers": {"localhost:8000": "db"}}, "names db, which web calls too: users call the"),
        ({"servers": {"localhost:8000": 1}}, "must be a table of servers"),
        (
            {"servers": {**SERVERS, "localhost:9000": "api2"}},
            "has no request to localhost:9000 that users can send",
        ),
        ({"har": None, "start": "/"}, "servers goes with har; remove it"),
    ],
)
def test_a_server_that_users_cannot_call_is_named(
    tmp_path: Path, change: dict[str, Any], sentence: str
) -> None:
    asked = document(visit(tmp_path), **change)
    sessions = asked["system"]["sessions"]
    asked["system"]["sessions"] = {key: each for key, each in sessions.items() if each is not None}
    with pytest.raises(UserError) as raised:
        Experiment.from_tables(asked, "e")
    assert sentence in str(raised.value)


def test_a_server_that_does_not_speak_http_is_refused(tmp_path: Path) -> None:
    asked = document(visit(tmp_path))
    asked["system"]["api"] |= {"protocol": "tcp"}
    with pytest.raises(UserError, match="names api, which speaks tcp and no plain http"):
        Experiment.from_tables(asked, "e")


@pytest.mark.parametrize(
    ("callers", "is_refused"), [(("web.1",), True), (("db.1",), True), (("api.1",), False)]
)
def test_a_server_of_users_that_another_is_seen_to_call_is_refused_in_a_sentence(
    tmp_path: Path, callers: tuple[str, ...], is_refused: bool
) -> None:
    asked = document(visit(tmp_path))
    for name in ("web", "api"):
        asked["system"][name]["command"] = f"sh {name}.sh"
    plan = Experiment.from_tables(asked, "e").trials()[0]
    seen = [Seen(each, "api.1", "127.0.0.1", 8000, "http", 3, 0, 3) for each in callers]
    if not is_refused:
        assert completed(plan, seen).systems[0].system.protocols["api"] == ("http", 8000)
        return
    with pytest.raises(UserError, match=f"{callers[0][:-2]} was seen to call api, which sessions"):
        completed(plan, seen)


@pytest.mark.parametrize(
    ("host", "port"),
    [
        ("api", 80),
        ("api:8000", 8000),
        ("[2001:db8::1]", 80),
        ("[2001:db8::1]:8000", 8000),
        ("api:x", None),
        ("api:70000", None),
    ],
)
def test_a_host_has_its_port_however_its_address_is_written(host: str, port: int | None) -> None:
    assert port_of(host) == port


COMPOSE = """\
services:
  front: { image: shop, ports: ["5173:3000"] }
  back: { image: plain, ports: ["8000:3000"], depends_on: [db] }
  db: { image: postgres }
"""


def test_init_notes_why_users_do_not_call_a_service_that_another_calls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    have_images(monkeypatch)
    monkeypatch.setattr("tierlab.servers.image_options.find_image", find_image())
    text = COMPOSE.replace('"5173:3000"]', '"5173:3000"], depends_on: [back]')
    (tmp_path / "compose.yaml").write_text(text)
    visit(tmp_path)
    file = tmp_path / "e.toml"
    options = ["--own", "--compose", "compose.yaml", "--har", "v.har"]
    ended = CliRunner().invoke(app, ["init", str(file), *options])
    assert ended.exit_code == 0, f"{ended.output}{ended.exception}"
    assert "servers" not in file.read_text()
    assert "requests of the recording to localhost:8000 (back) are left out: " in ended.output
    assert "names back, which front calls too" in ended.output


def test_init_writes_them_into_a_file_that_lacks_something_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    have_images(monkeypatch)
    (tmp_path / "compose.yaml").write_text(COMPOSE.replace("image: postgres", "image: none"))
    visit(tmp_path)
    file = tmp_path / "e.toml"
    options = ["--own", "--compose", "compose.yaml", "--har", "v.har"]
    ended = CliRunner().invoke(app, ["init", str(file), *options])
    assert "lacks something yet" in str(ended.exception)
    assert 'servers = { "localhost:8000" = "back" }' in file.read_text()


def find_image() -> Any:
    """What stands for podman's images in compose files."""
    return vars(service)["find_image"]


def test_init_writes_the_services_to_which_the_recording_went(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    have_images(monkeypatch)
    (tmp_path / "compose.yaml").write_text(COMPOSE)
    visit(tmp_path)
    file = tmp_path / "e.toml"
    options = ["--own", "--compose", "compose.yaml", "--har", "v.har"]
    monkeypatch.setattr("tierlab.servers.image_options.find_image", find_image())
    ended = CliRunner().invoke(app, ["init", str(file), *options])
    text = file.read_text()
    assert 'servers = { "localhost:8000" = "back" }' in text, f"{ended.output}{ended.exception}"
    assert "found  hosts of the recording by their published ports: localhost:8000 (back)" in (
        ended.output
    )
