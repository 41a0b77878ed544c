"""What users ask for: the published mixes, the same sessions under one seed, links and forms."""

from __future__ import annotations

import csv
import math
from collections import defaultdict
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pandas as pd
import pytest

from tests.pace import pace
from tierlab.workloads.rubbos.users import users

from .driving import MILLISECOND, POPULATION, Driver

TABLES = {
    "browse-only": "browse-only",
    "browse-only-no-search": "browse-only-no-search",
    "user": "user-default",
    "user-no-search": "user-default-no-search",
    "author": "author-default",
}
DERIVED_REQUESTS = 3_000_000
"""derived_shares.csv: percent of requests of so many simulated ones under the published rules."""


def derived_shares(mix: str) -> dict[str, float]:
    with Path(__file__).with_name("derived_shares.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["mix"] == TABLES[mix]]
    return {row["state"]: float(row["percent_of_requests"]) / 100 for row in rows}


def whole_sessions(requests: pd.DataFrame) -> pd.DataFrame:
    """The same number of first sessions of every user, whole: a sample that time cannot bias."""
    ended = requests[requests.session < requests.groupby("user").session.transform("max")]
    number = ended.session - ended.user.astype("int64") * 1_000_000
    least = number.groupby(ended.user).max().min()
    return ended[number <= least]


@pytest.mark.parametrize("mix", TABLES)
def test_page_shares_are_the_published_ones(mix, site, drive: Driver) -> None:
    driven = drive(
        site(),
        users(mix, "published", POPULATION),
        seconds=pace(),
        think_ms=0,
        users=25,
        connection="keep_alive",
    )
    requests = driven.requests
    assert requests.error.dropna().isin(["cut"]).all()
    requests = whole_sessions(requests)
    assert len(requests) > 1_000
    sessions = pd.crosstab(requests.session, requests.interaction)
    lengths = sessions.sum(axis=1).to_numpy()
    for state, expected in derived_shares(mix).items():
        counts = sessions[state].to_numpy() if state in sessions else np.zeros(len(lengths))
        share = counts.sum() / lengths.sum()
        if expected == 0:
            assert share == 0, state
            continue
        # Pages of one session depend on each other: the ratio estimator over sessions (Cochran,
        # Sampling Techniques, section 6.4), and the error of the derived figure itself.
        residuals = counts - share * lengths
        variance = residuals.var(ddof=1) * len(lengths) / lengths.sum() ** 2
        # A rare page that did not come has no residuals, and yet might have come.
        variance = max(variance, expected * (1 - expected) / lengths.sum())
        variance += 2 * expected * (1 - expected) / DERIVED_REQUESTS
        assert abs(share - expected) < 4.5 * math.sqrt(variance), (state, share, expected)


def sequences(requests: pd.DataFrame, length: int) -> dict[int, list[str]]:
    ordered = requests.sort_values(["user", "start_ns"])
    return {user: list(pages)[:length] for user, pages in ordered.groupby("user").interaction}


def logged(log: Path) -> list[tuple[str, str, str]]:
    rows = [line.split("\t") for line in log.read_text().splitlines()]
    return [(method, target, body) for method, target, body, *_ in rows]


def test_same_seed_same_sessions(site, drive: Driver, tmp_path: Path) -> None:
    first = drive(site(), seconds=0.7, think_ms=10)
    again = Driver(tmp_path / "again")(site("--delay-ms", "2"), seconds=0.7, think_ms=10)
    other = Driver(tmp_path / "other")(site(), seconds=0.7, think_ms=10, seed=2)
    runs = [sequences(driven.requests, 15) for driven in (first, again, other)]
    for user, pages in runs[0].items():
        both = min(len(pages), len(runs[1][user]))
        assert both >= 5
        assert pages[:both] == runs[1][user][:both]
    assert any(pages[:5] != runs[2][user][:5] for user, pages in runs[0].items())
    ids = [driven.requests.groupby("user").request_id.first() for driven in (first, again)]
    assert ids[0].equals(ids[1])


@pytest.mark.parametrize(
    "loop",
    [
        {"mode": "closed", "think_ns": 10 * MILLISECOND},
        {"mode": "open", "rate_per_s": 600, "arrivals": "poisson"},
    ],
    ids=["closed", "open"],
)
def test_same_seed_same_requests_with_any_number_of_threads(loop, site, tmp_path: Path) -> None:
    asked, began, phases = [], [], []
    for threads in (1, 2, 3):
        log = tmp_path / f"{threads}.log"
        drive = Driver(tmp_path / f"{threads}")
        driven = drive(site("--log", str(log)), seconds=0.5, users=20, loop=loop, threads=threads)
        requests = driven.requests
        assert driven.summary["threads"] == threads
        assert driven.summary["requests"] == len(requests)
        assert sum(line["requests"] for line in driven.lines[1:-1]) == len(requests)
        assert set(range(20)) <= set(requests.user)
        assert requests.error.dropna().isin(["cut"]).all()
        asked.append(by_user(requests, wire(log)))
        began.append(np.sort(requests.intended_ns) - driven.lines[0]["start_ns"])
        events = driven.events
        phases.append(list(events[events.kind == "phase"].subject))
    for others in asked[1:]:
        # A run of half a second ends for each user where it ends: what both runs have is the same.
        both = {user: min(len(asked[0][user]), len(others[user])) for user in range(20)}
        assert sum(both.values()) >= 20
        for user, count in both.items():
            assert asked[0][user][:count] == others[user][:count]
    assert phases == [["ramp_up", "runtime"]] * 3
    if loop["mode"] == "open":
        # Threads see two clocks a few microseconds apart.
        assert [len(times) for times in began] == [len(began[0])] * 3
        assert max(abs(times - began[0]).max() for times in began) < MILLISECOND


def wire(log: Path) -> dict[str, tuple[str, str, str]]:
    """Method, target and body of each request, by its id, as the server got them."""
    rows = [line.split("\t") for line in log.read_text().splitlines()]
    return {name: (method, target, body) for method, target, body, _, name in rows}


def by_user(
    requests: pd.DataFrame, sent: dict[str, tuple[str, str, str]]
) -> dict[int, list[tuple[str, str, tuple[str, str, str]]]]:
    """What each user asked for in its order: the page, the request's id, and what the wire had."""
    ended = requests[requests.error.isna()].sort_values(["user", "start_ns"])
    return {
        int(user): [
            (page, name, sent[name])
            for page, name in zip(rows.interaction, rows.request_id, strict=True)
        ]
        for user, rows in ended.groupby("user")
    }


def test_same_seed_same_requests_on_the_wire(site, drive: Driver, tmp_path: Path) -> None:
    logs = [tmp_path / "one.log", tmp_path / "two.log"]
    for log in logs:
        drive(site("--log", str(log)), seconds=0.6 * pace(), think_ms=1, users=1)
    one, two = (logged(log)[:300] for log in logs)
    shorter = min(len(one), len(two))
    assert shorter > 100
    assert one[:shorter] == two[:shorter]


def test_requests_carry_what_the_pages_offer(site, drive: Driver, tmp_path: Path) -> None:
    log = tmp_path / "site.log"
    workload = users("read-write", "corrected", POPULATION)
    drive(site("--log", str(log)), workload, seconds=pace(), think_ms=1, users=50)
    seen = defaultdict(list)
    for method, target, body in logged(log):
        url = urlsplit(target)
        values = parse_qs(body or url.query, keep_blank_values=True)
        seen[url.path.rsplit("/", 1)[-1]].append((method, {k: v[0] for k, v in values.items()}))
    assert {values["storyId"] for _, values in seen["ViewStory"]} <= {str(n) for n in range(1, 11)}
    comments = {values["commentId"] for _, values in seen["ViewComment"]}
    assert comments == {"1", "2", "3"}
    for method, values in seen["StoreComment"]:
        assert method == "POST"
        assert values["comment_table"] == "comments"
        assert values["storyId"] == "7"
        assert 0 < len(values["subject"]) <= 100
        assert 0 < len(values["body"]) <= 1024
    assert {values["category"] for _, values in seen["StoreStory"]} == {"3", "4"}
    assert {values["rating"] for _, values in seen["StoreModeratorLog"]} == {"-1", "0", "1"}
    assert {method for method, _ in seen["ViewStory"]} == {"GET"}
    nicknames = {values["nickname"] for _, values in seen["Author"]}
    assert nicknames <= {f"author{n}" for n in range(1, 51)}


def test_older_stories_are_asked_for_by_day(site, drive: Driver, tmp_path: Path) -> None:
    log = tmp_path / "site.log"
    drive(site("--log", str(log)), seconds=1.5 * pace(), think_ms=1, users=50)
    days = [
        tuple(int(parse_qs(urlsplit(target).query)[key][0]) for key in ("year", "month", "day"))
        for _, target, _ in logged(log)
        if "OlderStories" in target
    ]
    # The load day is 2026-03-10: the past week is 3 to 9 March.
    recent = sum((2026, 3, 3) <= day <= (2026, 3, 9) for day in days)
    assert len(days) > 100
    assert {day for day in days if day > (2026, 3, 2)} == {(2026, 3, n) for n in range(3, 10)}
    assert 0.9 < recent / len(days) <= 1


def test_images_belong_to_their_page(site, drive: Driver, tmp_path: Path) -> None:
    log = tmp_path / "site.log"
    port = site("--images", "--delay-ms", "10", "--log", str(log))
    driven = drive(port, seconds=0.7, users=5)
    requests = driven.requests
    images = [target for _, target, _ in logged(log) if target.endswith(".png")]
    assert len(images) == 2 * len(requests)
    # A page and its two images, one after the other, each with a delay of 10 ms.
    assert (requests.end_ns - requests.first_byte_ns).min() > 20 * 1_000_000
    without = drive(port, seconds=0.5, users=5, images=False)
    homes = [run[run.interaction == "StoriesOfTheDay"] for run in (requests, without.requests)]
    assert homes[0].bytes.min() > homes[1].bytes.max()
