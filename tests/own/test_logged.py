"""From an access log to users: the chain that the log was drawn from is found again."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tierlab.errors import UserError
from tierlab.workloads.own.logged import FIRST, logged
from tierlab.workloads.sessions.delay import think

CHAIN = {
    "/": {"/items": 0.7, "/about": 0.2, "": 0.1},
    "/items": {"/items": 0.5, "/": 0.3, "": 0.2},
    "/about": {"": 1.0},
}
"""How likely each page is after each; the empty one is the end."""
GAP_S = {"/": 4, "/items": 20, "/about": 9}


def line(
    time: datetime, client: int, target: str, *, method: str = "GET", status: int = 200
) -> str:
    when = time.strftime("%d/%b/%Y:%H:%M:%S +0000")
    request = f'"{method} {target} HTTP/1.1" {status} 100'
    return f'10.0.0.{client} - - [{when}] {request} "-" "Browser \\"x\\""'


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    dice = random.Random(5)
    lines = []
    start = datetime(2026, 1, 1, tzinfo=UTC)
    for session in range(4000):
        time = start + timedelta(hours=session)
        page = "/"
        while page:
            target = f"{page}/{dice.randrange(100)}?x=1" if page == "/items" else page
            lines.append(line(time, session % 200, target))
            lines.append(line(time, session % 200, "/logo.png"))
            time += timedelta(seconds=GAP_S[page])
            page = dice.choices(list(CHAIN[page]), list(CHAIN[page].values()))[0]
    lines += [
        line(start, 1, "/form", method="POST"),
        line(start, 1, "/gone", status=404),
        "nonsense",
    ]
    dice.shuffle(lines)
    file = tmp_path_factory.mktemp("log") / "access.log"
    file.write_text("\n".join(lines) + "\n")
    return file


def test_the_chain_and_its_think_times_are_found(log: Path) -> None:
    whole = logged(log, {}, own_think=True)
    columns = {name: dict(pairs) for name, pairs in whole["sessions"][0]["transitions"].items()}
    assert set(columns) == {FIRST, "/", "/items/{id}", "/about"}
    for page, state in (("/", FIRST), ("/", "/"), ("/items", "/items/{id}"), ("/about", "/about")):
        for to, share in CHAIN[page].items():
            name = {"": "End", "/items": "/items/{id}"}.get(to, to)
            assert columns[state][name] == pytest.approx(share, abs=0.03), (state, to)
    delays = {state["name"]: state.get("delay") for state in whole["states"]}
    assert delays[FIRST] == think(4_000_000_000)
    assert delays["/items/{id}"] == think(20_000_000_000)


def test_users_ask_for_what_was_asked_for_as_often(log: Path) -> None:
    whole = logged(log, {}, own_think=False)
    items = next(each for each in whole["states"] if each["name"] == "/items/{id}")
    assert len(items["row"]["rows"]) == 100
    assert all(
        row[0].startswith("items/") and row[0].endswith("?x=1") for row in items["row"]["rows"]
    )
    assert "delay" not in items
    assert "3 other lines" not in whole["name"], "pictures are left out too"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "is no access log"),
        ("one\ntwo\n", "is no access log"),
        (line(datetime(2026, 1, 1), 1, "/x", status=500), "has no page"),
        (line(datetime(2026, 1, 1), 1, "/x?token=1"), "has no page"),
    ],
)
def test_what_is_no_log_of_pages_is_told(tmp_path: Path, text: str, sentence: str) -> None:
    file = tmp_path / "access.log"
    file.write_text(text)
    with pytest.raises(UserError) as raised:
        logged(file, {}, own_think=True)
    assert sentence in str(raised.value)
