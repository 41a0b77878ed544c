"""What browsers do with a page: its links, its images, and where a reply sends them."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from tierlab.workloads.own.pages import START, following

from .driving import Driver

Page = tuple[int, str]
"""Status, and the text; of a redirection, where to."""


class Site(BaseHTTPRequestHandler):
    """Has pages by path; in texts, `{host}` is what the request calls the site."""

    protocol_version = "HTTP/1.1"
    pages: dict[str, Page]
    asked: list[tuple[str, str, str]]

    def answer(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"] or 0)).decode()
        self.asked.append((self.command, self.path, body))
        status, text = self.pages.get(self.path.partition("?")[0], (200, "page"))
        text = text.replace("{host}", self.headers["Host"])
        self.send_response(status)
        if 300 <= status < 400:
            self.send_header("Location", text)
            text = ""
        if self.path.endswith(".json"):
            self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    do_GET = do_POST = answer  # noqa: N815

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def serving(pages: dict[str, Page]) -> Iterator[tuple[int, list[tuple[str, str, str]]]]:
    """A site's port, and what it was asked for: method, target and body."""
    asked: list[tuple[str, str, str]] = []
    handler = type("Pages", (Site,), {"pages": pages, "asked": asked})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1], asked
        server.shutdown()


def workload(*states: dict[str, Any], **rules: Any) -> dict[str, Any]:
    """Users who ask for one page after the other."""
    names = [state["name"] for state in states]
    onward = zip(names, [*names[1:], "End"], strict=True)
    return {
        "name": "pages",
        "home": names[0],
        "states": list(states),
        "sessions": [
            {
                "name": "visitor",
                "share": 1.0,
                "identity": {"numbers": [1, 1], "values": {}},
                "transitions": {name: [[to, 1.0]] for name, to in onward},
            }
        ],
        "rules": {"browser": True, **rules},
    }


def test_links_that_say_the_site_s_own_host_are_followed(drive: Driver) -> None:
    page = '<a href="http://{host}/shop?x=1&#38;y=2">shop</a> <a href="http://elsewhere/no">no</a>'
    with serving({"/": (200, page)}) as (port, asked):
        requests = drive(port, following(("/",), (), (), 3, {}), seconds=0.4).requests
    assert requests.error.dropna().isin(["cut"]).all()
    assert {target for _, target, _ in asked} == {"/", "/shop?x=1&y=2"}


def test_sessions_begin_at_each_start_page_as_often_and_each_says_its_own(drive: Driver) -> None:
    pages = {"/": (200, "Welcome"), "/cart": (200, "Your cart"), "/broken": (200, "no")}
    expect = {"/": "Welcome", "/cart": "Your cart", "/broken": "yes"}
    users = following(("/", "/cart", "/broken", "/plain"), (), (), 1, expect)
    with serving(pages) as (port, _):
        requests = drive(port, users, seconds=1.0, users=30, think_ms=10).requests
    ended = requests[requests.error != "cut"]
    counts = ended.interaction.value_counts()
    assert set(counts.index) == {"/", "/cart", "/broken", START}
    assert np.abs(counts / len(ended) - 0.25).max() < 5 * np.sqrt(0.25 * 0.75 / len(ended))
    broken = ended.interaction == "/broken"
    assert set(ended[broken].error) == {"text_missing"}
    assert ended[~broken].error.isna().all()


@pytest.mark.parametrize(
    ("status", "sent_on"),
    [(302, ("GET", "")), (303, ("GET", "")), (307, ("POST", "a=x")), (308, ("POST", "a=x"))],
)
@pytest.mark.parametrize("redirects", ["own", "within"])
def test_a_form_is_posted_again_where_a_reply_says_so(
    status: int, sent_on: tuple[str, str], redirects: str, drive: Driver
) -> None:
    form = {
        "name": "form",
        "path": "/form",
        "method": "POST",
        "parameters": [{"name": "a", "from": {"constant": "x"}}],
    }
    with serving({"/form": (status, "/there")}) as (port, asked):
        requests = drive(port, workload(form, redirects=redirects), seconds=0.3).requests
    assert requests.error.dropna().isin(["cut"]).all()
    assert {(method, body) for method, target, body in asked if target == "/there"} == {sent_on}
    assert {(method, body) for method, target, body in asked if target == "/form"} == {
        ("POST", "a=x")
    }


def test_a_picture_that_belongs_to_a_recorded_page_is_fetched_once_a_page(drive: Driver) -> None:
    page = {"name": "page", "path": "/page", "resources": ["/a.css", "/logo.png?a=1&b=2"]}
    text = '<img src="logo.png?a=1&amp;b=2#x"><img src="http://{host}/other.png">'
    with serving({"/page": (200, text)}) as (port, asked):
        requests = drive(port, workload(page), seconds=0.4, users=4).requests
    ended = requests[requests.error.isna()]
    assert set(ended.images_named) == {2}
    assert set(ended.images) == {1}
    assert set(ended.statics) == {2}
    counts = Counter(target for _, target, _ in asked)
    assert set(counts) == {"/page", "/a.css", "/logo.png?a=1&b=2", "/other.png"}
    assert max(counts.values()) == counts["/page"], "some are cut by the end"


def test_data_have_no_pictures(drive: Driver) -> None:
    data = {"name": "data", "path": "/data.json", "resources": ["/a.css"]}
    with serving({"/data.json": (200, '{"preview": "<img src=a.png>"}')}) as (port, asked):
        requests = drive(port, workload(data), seconds=0.3).requests
    assert set(requests[requests.error.isna()].images_named) == {0}
    assert {target for _, target, _ in asked} == {"/data.json", "/a.css"}


def test_what_belongs_to_a_page_is_fetched_where_a_reply_says_that_it_is(drive: Driver) -> None:
    page = {"name": "page", "path": "/page", "resources": ["/css/a.css"]}
    pages = {
        "/page": (200, '<img src="/logo"><img src="/cdn.png">'),
        "/css/a.css": (307, "b.css?v=1"),
        "/logo": (302, "http://{host}/files/logo.png"),
        "/cdn.png": (301, "http://elsewhere/cdn.png"),
    }
    with serving(pages) as (port, asked):
        requests = drive(port, workload(page), seconds=0.4, users=4).requests
    ended = requests[requests.error != "cut"]
    assert ended.error.isna().all()
    assert (set(ended.images), set(ended.statics), set(ended.image_bytes)) == ({2}, {1}, {4})
    counts = Counter(target for _, target, _ in asked)
    assert set(counts) == {*pages, "/css/b.css?v=1", "/files/logo.png"}
    assert max(counts.values()) == counts["/page"], "some are cut by the end"


def test_what_is_sent_round_in_circles_has_failed(drive: Driver) -> None:
    page = {"name": "page", "path": "/page"}
    pages = {"/page": (200, '<img src="/a">'), "/a": (302, "/a")}
    with serving(pages) as (port, asked):
        requests = drive(port, workload(page), seconds=0.4, users=1).requests
    ended = requests[requests.error != "cut"]
    assert set(ended.error) == {"image_status_302"}
    assert len([target for _, target, _ in asked if target == "/a"]) // len(ended) == 9


def test_a_reply_that_sends_its_user_elsewhere_has_no_page_that_says_something(
    drive: Driver,
) -> None:
    states = [
        {"name": name, "path": f"/{name}", "expect": {"text": "Your cart"}}
        for name in ("old", "cart", "empty")
    ]
    pages = {"/old": (302, "/cart"), "/cart": (200, "Your cart")}
    with serving(pages) as (port, asked):
        users = workload(*states, redirects="stay", after_failure="next")
        requests = drive(port, users, seconds=0.3).requests
    ended = requests[requests.error != "cut"]
    assert ended[ended.interaction != "empty"].error.isna().all()
    assert set(ended[ended.interaction == "empty"].error) == {"text_missing"}
    assert len({target for _, target, _ in asked}) == 3


@pytest.mark.parametrize("redirects", ["own", "within", "stay"])
def test_a_reply_that_sends_its_user_off_the_site_has_failed_and_says_where_to(
    redirects: str, drive: Driver
) -> None:
    """To HTTPS, above all. As a log's user stays it was a success."""
    states = [{"name": name, "path": f"/{name}"} for name in ("tls", "away", "here")]
    pages = {
        "/tls": (301, "https://{host}/in?token=secret"),
        "/away": (302, "http://login.example/in"),
        "/here": (302, "http://{host}/there"),
    }
    with serving(pages) as (port, _):
        users = workload(*states, redirects=redirects, after_failure="next")
        driven = drive(port, users, seconds=0.3)
    ended = driven.requests[driven.requests.error != "cut"]
    errors = {name: set(mine.error.dropna()) for name, mine in ended.groupby("interaction")}
    assert errors == {"tls": {"status_301"}, "away": {"status_302"}, "here": set()}
    where = {"tls": f"https://127.0.0.1:{port}", "away": "http://login.example"}
    assert driven.summary["sent_off"] == where
