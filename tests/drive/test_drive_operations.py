"""Operations of several requests, as one interaction each: cycle times, a browser's cache, cookies,
redirections, forms with files.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tierlab.workloads.sessions.delay import cycle, with_cycle

from .calendar_site import IMAGE_BYTES
from .driving import MILLISECOND, Driven, Driver

PHOTO = bytes(range(256)) * 1_000
SINCE = "Mon, 09 Mar 2026 00:00:00 GMT"
STATICS = {"home": ["/static/a.css", "/static/b.js"], "event": ["/static/b.js", "/static/c.png"]}
MS = MILLISECOND


def state(name: str, path: str, **rest: Any) -> dict[str, Any]:
    return {"name": name, "path": path, **rest}


def calendar(mean_ms: float, **rules: Any) -> dict[str, Any]:
    """Home -> login -> event -> add -> home ..., each of several requests; `add` takes longest."""
    event = {"remembered": "event"}
    return {
        "name": "calendar",
        "home": "home",
        "states": [
            state(
                "home",
                "/home",
                resources=STATICS["home"],
                images={"contains": "file?"},
                extract=[{"name": "event", "after": "?event=", "until": '"', "which": "any"}],
            ),
            state(
                "login",
                "/login",
                method="POST",
                effect="log_in",
                images={"contains": "none"},
                extract=[{"name": "event", "after": "?event=", "until": '"', "which": "any"}],
                before=[{"state": "logout", "when": {"logged_in": True}}],
                parameters=[{"name": "user", "from": {"identity": "name"}}],
            ),
            state("logout", "/logout", effect="log_out"),
            state(
                "event",
                "/event",
                resources=STATICS["event"],
                parameters=[{"name": "event", "from": event}],
                after=[{"state": "attend", "when": {"logged_in": True, "says": "Attend"}}],
            ),
            state("attend", "/attend", parameters=[{"name": "id", "from": event}]),
            state(
                "add",
                "/form",
                after=[{"state": "added"}],
                delay=cycle(int(mean_ms * MS), int(mean_ms * MS * 0.6)),
            ),
            state(
                "added",
                "/added",
                method="POST",
                encoding="multipart",
                draw={"from": {"unused": {"above": 1000, "every": 50}}},
                parameters=[
                    {"name": "name", "from": {"drawn": "user{drawn}"}},
                    {
                        "name": "text",
                        "from": {"joined": [{"letters": [5, 9]}, {"constant": "&\u00fc=\n"}]},
                    },
                    {"name": "photo", "from": {"file": "photo.jpg"}},
                ],
            ),
        ],
        "sessions": [
            {
                "name": "all",
                "share": 1,
                "identity": {"numbers": [0, 99], "stride": 50, "values": {"name": "u{n}"}},
                "transitions": {
                    "home": [["login", 1]],
                    "login": [["event", 1]],
                    "event": [["add", 1]],
                    "add": [["home", 1]],
                },
            }
        ],
        "delay": cycle(int(mean_ms * MS)),
        "rules": {
            "browser": True,
            "redirects": "within",
            "cache": {"cached": 0.6, "since": SINCE},
            **rules,
        },
        "files": [{"name": "photo.jpg", "path": "photo.jpg", "type": "image/jpeg"}],
    }


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Callable[..., tuple[int, Path]]]:
    """Starts a calendar, and returns its port and its log."""
    started = []

    def start(*options: str) -> tuple[int, Path]:
        log = tmp_path / f"site{len(started)}.log"
        program = str(Path(__file__).with_name("calendar_site.py"))
        process = subprocess.Popen(
            [sys.executable, program, str(log), *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        assert process.stdout is not None
        return int(process.stdout.readline()), log

    yield start
    for process in started:
        process.communicate()


def driven(folder: Path, port: int, workload: dict[str, Any], **keys: Any) -> Driven:
    folder.mkdir()
    (folder / "photo.jpg").write_bytes(PHOTO)
    return Driver(folder)(
        port, workload, **{"users": 20, "connection": "keep_alive", "think_ms": 50, **keys}
    )


def logged(log: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.read_text().splitlines()]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[pd.DataFrame, list[dict[str, Any]]]:
    """The interactions that ended well, and all that the site was asked for."""
    folder = tmp_path_factory.mktemp("calendar")
    log = folder / "site.log"
    program = str(Path(__file__).with_name("calendar_site.py"))
    with subprocess.Popen(
        [sys.executable, program, str(log)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        port = int(process.stdout.readline())
        found = driven(folder / "drive", port, calendar(150), seconds=1.8)
        process.communicate()
    requests = found.requests
    assert requests.error.dropna().isin(["cut"]).all(), requests.error.value_counts()
    return requests[requests.error.isna()].sort_values(["user", "start_ns"]), logged(log)


def test_an_interaction_is_all_its_requests(run) -> None:
    requests, _ = run
    by_name = dict(iter(requests.groupby("interaction")))
    assert set(by_name) == {"home", "login", "event", "add"}
    assert set(by_name["login"].steps) == {"login", "logout+login"}
    assert set(by_name["event"].steps) <= {"event+attend", "event"}
    assert set(by_name["add"].steps) == {"add+added"}
    assert by_name["home"].steps.isna().all(), "it has one page"
    assert set(requests.attempts) == {1}
    assert set(requests.protocol) == {"http1"}
    assert set(requests.status) == {200}, "of the page that a redirection led to"


def test_images_are_counted_and_fetched_once_a_session(run) -> None:
    requests, asked = run
    home = requests[requests.interaction == "home"]
    assert set(home.images_named) == {3}, "one of four is there twice, the logo does not count"
    first = home.groupby("session").head(1)
    assert set(first.images) == {3}
    assert set(first.image_bytes) == {3 * IMAGE_BYTES}
    again = home[home.duplicated("session")]
    assert set(again.images) <= {0}
    assert sum(line["path"].startswith("/file") for line in asked) >= home.images.sum()


def test_six_sessions_in_ten_only_ask_whether_files_have_changed(run) -> None:
    requests, asked = run
    statics = [line for line in asked if line["path"].startswith("/static/")]
    assert {line["since"] for line in statics} == {None, SINCE}
    # Two of the three files are of the home page, two of the event's.
    asking = requests[requests.statics.notna() & requests.interaction.isin(["home", "event"])]
    whole = asking.groupby(["user", "session"]).filter(lambda pages: len(pages) == 2)
    own = whole.groupby(["user", "session"]).statics.sum()
    assert set(own) == {4, 3}, "who has them asks with each page, who has not once a session"
    cached = (own == 4).mean()
    assert abs(cached - 0.6) < 5 * np.sqrt(0.24 / len(own))
    asked_for_changes = sum(line["since"] is not None for line in statics) / len(statics)
    wanted = 0.6 * 4 / (0.6 * 4 + 0.4 * 3)
    assert abs(asked_for_changes - wanted) < 5 * np.sqrt(0.24 / len(own))


def test_a_session_has_a_cookie_until_its_user_logs_out(run) -> None:
    requests, asked = run
    by_id = {line["id"]: line for line in asked}
    for path, cookies in (("/login", {None}), ("/logout", None)):
        seen = {line["cookie"] for line in asked if line["path"] == path}
        assert seen == cookies if cookies is not None else None not in seen
    attended = [line["cookie"] for line in asked if line["path"].startswith("/attend")]
    assert attended
    assert None not in attended
    events = requests[requests.interaction == "event"]
    assert len({by_id[name]["cookie"] for name in events.request_id}) == events.session.nunique()


def test_forms_carry_fields_and_files_as_they_are(run) -> None:
    _, asked = run
    forms = [line["form"] for line in asked if line["path"] == "/added"]
    assert len(forms) >= 20
    names = [form["name"][2] for form in forms]
    assert len(set(names)) == len(names), "nobody takes another's name"
    for form in forms:
        assert form["photo"] == ["photo.jpg", "image/jpeg", PHOTO.decode("latin-1")]
        text = form["text"][2].encode("latin-1").decode()
        assert text.endswith("&\u00fc=\n")
        assert 9 <= len(text) <= 13
    users = [int(line["form"]["user"][1:]) for line in asked if line["path"] == "/login"]
    assert {(user - 1) % 50 for user in users} == set(range(20)), "nobody has another's login"


def test_the_next_operation_starts_a_drawn_time_after_the_start_of_the_last(run) -> None:
    requests, _ = run
    of_user = requests.groupby("user")
    before = of_user.interaction.shift()
    actual = (requests.start_ns - of_user.start_ns.shift()) / MS
    drawn = requests.delay_ns / MS
    took = (requests.end_ns - requests.start_ns).groupby(requests.user).shift() / MS
    in_time = before.notna() & (took < drawn)
    assert in_time.sum() > 30
    assert (actual - drawn)[in_time].abs().median() < 1
    assert drawn[before == "add"].min() >= 0.6 * 150, "the curve is shifted to its minimum"
    assert drawn[before == "home"].min() < 0.3 * 150
    assert drawn.max() <= 5 * 150
    assert requests[before.isna()].delay_ns.isna().all(), "nothing came before the first"


def test_who_is_late_goes_on_at_once_and_makes_up_for_nothing(site, tmp_path: Path) -> None:
    """Operations of two requests of 30 ms, cycles of 40 ms: who caught up would start early."""
    port, _ = site("--delay-ms", "30")
    workload = calendar(40)
    workload["sessions"][0]["transitions"] = {"add": [["add", 1]], "home": [["add", 1]]}
    found = driven(tmp_path / "drive", port, workload, users=4, seconds=2.5, images=False)
    requests = found.requests.sort_values(["user", "start_ns"])
    of_user = requests.groupby("user")
    late = (requests.delay_ns + of_user.start_ns.shift() < of_user.end_ns.shift()) & (
        of_user.interaction.shift() == "add"
    )
    assert late.sum() > 5
    gap = (requests.intended_ns - of_user.end_ns.shift())[late]
    assert gap.abs().max() < MS, "at the end of the one before"
    assert ((requests.start_ns - requests.intended_ns) < 20 * MS).all(), (
        "it is not the driver's lag"
    )


def test_with_any_number_of_threads_the_requests_are_the_same(site, tmp_path: Path) -> None:
    asked = []
    for threads in (1, 3):
        port, log = site()
        driven(tmp_path / str(threads), port, calendar(60), seconds=0.6, users=9, threads=threads)
        # What the site gives, its cookies, is by the order in which users come.
        asked.append({line["id"]: {**line, "cookie": None} for line in logged(log)})
    both = asked[0].keys() & asked[1].keys()
    assert len(both) > 60
    assert {name: asked[0][name] for name in both} == {name: asked[1][name] for name in both}


def test_a_cycle_time_of_ones_own_scales_those_of_the_workload() -> None:
    workload = with_cycle(calendar(5000), 500 * MS)
    delays = [workload["delay"], *(s["delay"] for s in workload["states"] if "delay" in s)]
    assert [(delay["mean_ns"], delay["min_ns"], delay["max_ns"]) for delay in delays] == [
        (500 * MS, 0, 2500 * MS),
        (500 * MS, 300 * MS, 2500 * MS),
    ]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"delay": {"from": "start", "mean_ns": 5, "min_ns": 6}}, "`delay` needs 0 <= `min_ns`"),
        ({"files": []}, 'needs the file "photo.jpg", which `files` lacks'),
        (
            {"files": [{"name": "photo.jpg", "path": "none.jpg", "type": "a/b"}]},
            "No such file or directory",
        ),
        (
            {"rules": {"cache": {"cached": 2, "since": SINCE}}},
            "`rules.cache.cached` must be 0 to 1",
        ),
    ],
)
def test_what_makes_no_sense_is_named(change, said, tmp_path: Path) -> None:
    folder = tmp_path / "drive"
    folder.mkdir()
    (folder / "photo.jpg").write_bytes(PHOTO)
    driver = Driver(folder)
    ended = driver.end(driver.start(1, calendar(50) | change))
    assert ended.status != 0
    assert said in ended.said
