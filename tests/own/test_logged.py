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


def written(file: Path, *visits: list[tuple[str, int]]) -> Path:
    """A log of visits, each a client's, of (target, status)."""
    start = datetime(2026, 1, 1, tzinfo=UTC)
    file.write_text(
        "\n".join(
            line(start + timedelta(seconds=second), client, target, status=status)
            for client, visit in enumerate(visits)
            for second, (target, status) in enumerate(visit)
        )
    )
    return file


def test_where_a_redirection_led_to_is_asked_for_once(tmp_path: Path) -> None:
    visit = [("/", 200), ("/old", 301), ("/new", 200)]
    whole = logged(written(tmp_path / "access.log", visit), {}, own_think=True)
    assert whole["rules"]["redirects"] == "stay", "the driver does not go there by itself"
    transitions = whole["sessions"][0]["transitions"]
    assert transitions[FIRST] == [("/old", 1.0)]
    assert transitions["/old"] == [("/new", 1.0)], "the log has it"
    assert transitions["/new"] == [("End", 1.0)]


def test_a_pattern_that_no_logged_page_matches_is_refused(tmp_path: Path) -> None:
    file = written(tmp_path / "access.log", [("/", 200), ("/items/7", 200)])
    with pytest.raises(UserError) as raised:
        logged(file, {"/items/{id}": "Item", "/cart": "Your cart"}, own_think=True)
    said = f'{file}: has no page that is "/cart", as expect has it; name one of /, /items/{{id}}.'
    assert str(raised.value) == said


def test_a_visit_s_first_page_has_to_say_what_its_path_asks_for(tmp_path: Path) -> None:
    visits = [[("/", 200), ("/cart", 200)], [("/cart?x=1", 200), ("/", 200)], [("/b", 200)]]
    file = written(tmp_path / "access.log", *visits)
    whole = logged(file, {"/": "Welcome", "/cart": "Your cart"}, own_think=True)
    states = {state["name"]: state for state in whole["states"]}
    rows = states[FIRST]["row"]
    of = dict(zip((row[0] for row in rows["rows"]), rows["states"], strict=True))
    assert of["b"] == FIRST
    for target, text in (("", "Welcome"), ("cart?x=1", "Your cart")):
        first = states[of[target]]
        assert first["interaction"] == FIRST
        assert first["expect"] == {"text": text}
        assert first["delay"] == states[FIRST]["delay"]
        transitions = whole["sessions"][0]["transitions"]
        assert transitions[first["name"]] == transitions[FIRST]
    assert states["/cart"]["expect"] == {"text": "Your cart"}


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
