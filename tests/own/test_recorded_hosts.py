"""Which host of a recording is the application, and what is said of the others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.own.test_recorded import described, entry
from tierlab.errors import UserError
from tierlab.workloads.own.recorded import notes
from tierlab.workloads.own.site import host_key, is_local, is_near

Asked = dict[str, Any]


def html(url: str, status: int = 200, location: str = "", **headers: str) -> Asked:
    """A page."""
    reply = {"status": status, "redirectURL": location, "content": {"mimeType": "text/html"}}
    return entry({"url": url, "headers": listed(headers)}, reply)


def call(url: str, kind: str = "fetch", method: str = "GET", **headers: str) -> Asked:
    """A request of a page's program."""
    reply = {"content": {"mimeType": "application/json"}}
    sent = {"url": url, "method": method, "headers": listed(headers)}
    return entry(sent, reply) | {"_resourceType": kind}


def picture(url: str) -> Asked:
    return entry({"url": url}, {"content": {"mimeType": "image/png"}})


def listed(headers: dict[str, str]) -> list[dict[str, str]]:
    return [{"name": name.replace("_", "-"), "value": value} for name, value in headers.items()]


def written(folder: Path, *entries: Asked) -> Path:
    file = folder / "v.har"
    for second, each in enumerate(entries):
        each["startedDateTime"] = f"2026-01-01T00:{second // 60:02d}:{second % 60:02d}Z"
    file.write_text(json.dumps({"log": {"entries": entries}}))
    return file


def asked(file: Path) -> list[str]:
    return [each["interaction"].partition(" ")[2] for each in described(file)["states"]]


SHOP = [html("http://h:3000/"), html("http://h:3000/items"), call("http://h:3000/api/cart")]
OWN = ["/", "/items", "/api/cart"]
PAGE = html("http://app.example/start", Sec_Fetch_Dest="document")


@pytest.mark.parametrize(
    "others",
    [
        [entry({"url": "http://detectportal.example/ok"}, {"content": {"mimeType": "text/plain"}})],
        [html("http://captive.example/hotspot.html")],
        [html("https://login.example/", 302, "http://h:3000/")],
        [html("https://login.example/"), call("https://login.example/otp", method="POST")],
        [call("https://stats.example/collect", "ping", "POST") for _ in range(20)],
        [call("https://stats.example/g", "xhr", "POST") for _ in range(20)],
        [picture(f"https://cdn.example/{number}.png") for number in range(40)],
        [html(f"https://ads.example/{n}", Sec_Fetch_Dest="iframe") for n in range(9)],
        [html("https://ads.example/", 404) for _ in range(9)],
        [entry({"url": "https://ocsp.example/", "method": "POST"})],
    ],
    ids=[
        *("portal", "portal's page", "login that redirects", "login", "beacons", "statistics"),
        *("pictures", "frames", "failures", "certificates"),
    ],
)
@pytest.mark.parametrize("first", [True, False])
def test_the_site_is_where_the_pages_are(tmp_path: Path, others: list[Asked], first: bool) -> None:
    entries = [*others, *SHOP] if first else [*SHOP[:1], *others, *SHOP[1:]]
    file = written(tmp_path, *entries)
    assert asked(file) == OWN
    (note,) = notes([file])
    host = others[0]["request"]["url"].split("/")[2]
    assert host in note
    assert "left out: users ask h:3000 alone" in note


def test_a_page_s_program_counts_for_the_page_s_host(tmp_path: Path) -> None:
    """A login of several pages, and an application of one that asks another host."""
    login = [html(f"https://login.example/{word}") for word in ("start", "password", "consent")]
    calls = [call(f"https://api.app.example/v1/{n}", Origin="http://app.example") for n in range(9)]
    file = written(tmp_path, *login, PAGE, *calls)
    assert asked(file) == ["/start"]
    near, far = notes([file])
    assert near.startswith(
        "v.har: 9 of 13 requests go to api.app.example (GET /v1/{id}, ...) and are"
    )
    assert "put a reverse proxy before the servers" in near
    assert far.startswith("v.har: 3 of 13 requests go to login.example (GET /start, ...) and are")


@pytest.mark.parametrize(
    ("page", "api", "named"),
    [
        ("http://localhost:5173", "http://localhost:8000", "localhost:8000"),
        ("http://127.0.0.1:5173", "http://localhost:8000", "localhost:8000"),
        ("http://localhost", "http://localhost:8080", "localhost:8080"),
        ("http://[::1]:3000", "http://[::1]:4000", "localhost:4000"),
        ("https://shop.example", "https://api.shop.example", "api.shop.example"),
        ("http://shop.test", "http://shop.test:8443", "shop.test:8443"),
        ("http://web", "http://api", "api"),
        ("http://10.0.0.5:80", "http://10.0.0.6:9000", "10.0.0.6:9000"),
    ],
)
def test_an_api_of_another_host_or_port_is_told(
    tmp_path: Path, page: str, api: str, named: str
) -> None:
    calls = [call(f"{api}/api/items/{number}", Origin=page) for number in range(6)]
    calls.insert(0, call(f"{api}/api/items/1", "preflight", "OPTIONS", Origin=page))
    script = entry({"url": f"{page}/main.js"}) | {"_resourceType": "script"}
    file = written(tmp_path, html(f"{page}/"), script, *calls)
    assert asked(file) == ["/"]
    (note,) = notes([file])
    assert note.startswith(f"v.har: 6 of 8 requests go to {named} (GET /api/items/{{id}}, ...) and")
    assert "put a reverse proxy before the servers, make it the first server of the system" in note


def test_a_recording_of_an_api_alone_is_of_the_host_with_most_requests(tmp_path: Path) -> None:
    calls = [call("http://a.example/x"), *(call(f"http://b.example/{w}") for w in ("y", "z"))]
    assert asked(written(tmp_path, *calls)) == ["/y", "/z"]


def test_of_equal_hosts_the_local_one_is_the_site(tmp_path: Path) -> None:
    far, near = html("https://search.example/"), html("http://192.168.1.5:3000/shop")
    for entries in ([far, near], [near, far]):
        assert asked(written(tmp_path, *entries)) == ["/shop"]


@pytest.mark.parametrize(
    ("hosts", "named"),
    [
        (["www.shop.example", "shop.example"], "www.shop.example, shop.example"),
        (["shop.example", "SHOP.example:80"], ""),
        (["shop.example", "shop.example:443"], ""),
        (["shop.example", "Shop.Example."], ""),
        (["localhost:3000", "127.0.0.1:3000", "[::1]:3000"], "localhost:3000, 127.0.0.1:3000"),
        (["user:pw@shop.example", "shop.example"], ""),
    ],
)
def test_one_host_may_have_several_names(tmp_path: Path, hosts: list[str], named: str) -> None:
    pages = [html(f"http://{host}/{chr(97 + number)}") for number, host in enumerate(hosts)]
    file = written(tmp_path, *pages)
    assert asked(file) == ["/a", "/b", "/c"][: len(hosts)]
    found = notes([file])
    assert [named in each and "are taken for one host" in each for each in found] == [True] * bool(
        named
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("h:3000", "h:3001"),
        ("h", "h:8080"),
        ("shop.example", "shop.example.org"),
        ("api.shop.example", "shop.example"),
        ("127.0.0.1:1", "127.0.0.2:1"),
        ("[fd00::1]:1", "[fd00::1]:2"),
    ],
)
def test_different_hosts_and_ports_stay_so(one: str, other: str) -> None:
    assert host_key(one) != host_key(other)


@pytest.mark.parametrize(
    ("host", "local"),
    [
        *(("localhost:3000", True), ("127.0.0.1", True), ("[::1]:80", True), ("10.1.2.3:1", True)),
        *(("web", True), ("shop.test", True), ("my.localhost:3000", True), ("[fe80::1]", True)),
        *(("shop.example", False), ("8.8.8.8", False), ("[2606:4700::1]", False)),
    ],
)
def test_local_hosts(host: str, local: bool) -> None:
    assert is_local(host) is local


def test_hosts_of_one_domain_are_near() -> None:
    assert is_near("shop.example", "api.shop.example:8443")
    assert is_near("localhost:1", "127.0.0.2:2")
    assert not is_near("shop.example", "stats.example")


def test_many_hosts_are_counted(tmp_path: Path) -> None:
    others = [call(f"http://{c}.org/x") for c in "aabbbcdefg"] + [picture("http://cdn.net/x.png")]
    file = written(tmp_path, *SHOP, *others)
    calls, pictures = notes([file])
    assert (
        "10 of 14 requests go to b.org (3), a.org (2), c.org (1), d.org (1) and 3 other hosts"
        in calls
    )
    assert "1 style, script or picture of cdn.net is left out" in pictures


def test_nothing_but_streams_and_failures_is_no_visit(tmp_path: Path) -> None:
    stream = entry({"url": "http://h/"}, {"content": {"mimeType": "text/event-stream"}})
    with pytest.raises(UserError, match="has no page; record a visit to your application"):
        described(written(tmp_path, stream, entry({"url": "http://h/x"}) | {"response": None}))


def test_malformed_addresses_in_replies_and_headers_cost_nothing(tmp_path: Path) -> None:
    odd = [
        html("http://h:3000/moved", 302, "http://[bad"),
        html("http://h:3000//[x"),
        call("http://h:3000/api", Referer="http://[bad", Origin="null"),
    ]
    file = written(tmp_path, *SHOP, *odd)
    assert len(described(file)["states"]) == 6
