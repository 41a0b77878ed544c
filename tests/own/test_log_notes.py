"""What is said of an access log: what was not understood or left out, and who visitors are."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from tests.own.made_logs import (
    AGENTS,
    REQUESTS,
    START,
    Asked,
    Write,
    asked,
    combined,
    log,
    of_json,
)
from tierlab.errors import UserError
from tierlab.exchange.access_log import Line, read_access_log
from tierlab.workloads.own.crowds import crowded
from tierlab.workloads.own.log_notes import visits_of
from tierlab.workloads.own.logged import logged, notes

NGINX_ERROR = (
    "2026/03/04 23:58:00 [error] 7#7: *1 upstream timed out (110: Connection timed out), client:"
    ' 203.0.113.1, request: "GET /shop HTTP/1.1", status 504'
)
MESSAGES = [
    NGINX_ERROR,
    "[Wed Mar 04 23:58:00.123456 2026] [core:error] [pid 7] [client 203.0.113.1:500] AH1: GET 500",
    "[04-Mar-2026 23:58:00 UTC] PHP Warning:  Undefined index in /shop.php on line 7",
    "Traceback (most recent call last):",
    '  File "/shop.py", line 200, in get',
    "KeyError: 'item'",
    "[WARNING] 282/090000 (7) : Server back/web1 is DOWN, reason: Layer4 timeout",
    '{"level":"error","ts":1772668680.2,"logger":"tls","msg":"no certificate"}',
    '{"level":"debug","ts":1.7e9,"logger":"http.handlers.reverse_proxy","msg":"upstream roundtrip",'
    '"request":{"method":"GET","uri":"/shop","remote_ip":"203.0.113.1"},"status":200}',
]


@pytest.mark.parametrize("message", MESSAGES)
def test_messages_between_are_passed_over_and_counted(tmp_path: Path, message: str) -> None:
    file = log(tmp_path, combined, between=[message] * 12)
    assert len(read_access_log(file)) == REQUESTS, "though there are more messages than requests"
    (said,) = notes(file)
    assert said.startswith(f"{REQUESTS // 10 * 12} lines of access.log are no requests")
    assert "line 11, " in said


UNREAD = [
    '203.0.113.1 - - [04/Mar/2026:23:58:00 +0000] "GET /shop HTTP/1.1" - 200',
    '203.0.113.1 - - [04/Mar/2026:23:58:00 +0000] "GET /sho',
    'INFO:     203.0.113.1:500 - "GET /shop HTTP/1.1" 200 OK',
    "203.0.113.1 GET /shop 200 12ms",
    '{"method": "GET", "url": "/shop", "status": 200}',
    '203.0.113.1 - - [04/Mar/2026:23:58:00 +0000] "GET /shop HTTP/1.1" 777 200',
]


@pytest.mark.parametrize("line", UNREAD)
def test_requests_that_are_not_understood_are_counted_and_more_of_them_are_refused(
    tmp_path: Path, line: str
) -> None:
    file = log(tmp_path, combined, between=[line])
    assert len(read_access_log(file)) == REQUESTS
    said = notes(file)[0]
    assert said.startswith(f"12 of {REQUESTS + 12} lines of access.log that look like requests")
    assert "the first is line 11, " in said

    file = log(tmp_path, combined, between=[line, line])
    with pytest.raises(UserError) as raised:
        read_access_log(file)
    assert f"24 of its {REQUESTS + 24} lines that look like requests were not" in str(raised.value)
    assert "line 11, " in str(raised.value)
    assert "W3C extended format" in str(raised.value)


def test_an_example_has_no_values_that_may_be_secret(tmp_path: Path) -> None:
    file = log(tmp_path, combined, between=["203.0.113.1 GET /shop?token=hunter2&x=1 200"])
    assert "hunter2" not in notes(file)[0]


def test_what_no_line_of_json_has_is_named(tmp_path: Path) -> None:
    file = log(tmp_path, lambda e: of_json(e, moment="{each.iso}", path="{each.target}", method=""))
    with pytest.raises(UserError, match=r"no status among the keys moment, path, method"):
        read_access_log(file)


def test_a_duration_is_not_taken_for_a_status(tmp_path: Path) -> None:
    def write(each: Asked) -> str:
        took = 100 + (each.number * 37 + each.at.second * 11) % 800
        return f'{each.ip} - - [{each.clf}] "{each.line}" {took} 200 "-" "{each.agent}"'

    with pytest.raises(UserError, match="not understood"):
        read_access_log(log(tmp_path, write))


def test_what_is_left_out_is_counted_by_reason(tmp_path: Path) -> None:
    first = asked()[0]
    more = [
        combined(first).replace("GET /", "POST /form"),
        combined(first).replace('" 200', '" 404'),
        combined(first).replace("GET /", "GET /in?token=x"),
        combined(first).replace("GET /", "GET /a b"),
        combined(first).replace(first.line, "-"),
        combined(first).replace(first.line, "\\x16\\x03\\x01"),
        combined(first).replace(first.line, ""),
        combined(first).replace("GET /", "GET /logo.png"),
    ]
    file = log(tmp_path, combined, before=more)
    (said,) = notes(file)
    assert said == (
        f"7 of {REQUESTS + 8} requests of access.log are left out of the load: 3 without a request"
        " that can be read, 1 by another method than GET, 1 not answered with a status from 200 to"
        " 399, 1 with a token or a password in the address, 1 for an address that cannot be sent."
    )
    name = logged(file, {}, own_think=True)["name"]
    assert name.startswith(f"own log ({REQUESTS} of {REQUESTS + 8} requests; left out: 3 without")
    assert "1 for a picture, a style or a program of a page" in name


def test_hosts_services_and_formats_that_are_mixed_are_said(tmp_path: Path) -> None:
    file = log(tmp_path, lambda e: f"{'shop' if e.number % 4 else 'wiki'}.example:80 {combined(e)}")
    (said,) = notes(file)
    assert "2 hosts (shop.example: 90, wiki.example: 30)" in said

    file = log(tmp_path, lambda e: f"{'web' if e.number % 4 else 'api'}-1  | {combined(e)}")
    (said,) = notes(file)
    assert "2 services (web: 90, api: 30)" in said

    first = asked()[0]
    line = of_json(first, time=first.iso, ip=first.ip, request=first.line, status=200)
    (said,) = notes(log(tmp_path, combined, between=[line]))
    assert "several formats (120 in common or combined, 12 in JSON)" in said


def test_from_where_forwarded_addresses_are_is_said(tmp_path: Path) -> None:
    file = log(tmp_path, lambda e: combined(e, client="10.0.0.1", tail=f' "{e.ip}"'))
    (said,) = notes(file)
    assert "field 4 behind the status: visitors are told apart by these (24 addresses)" in said


PROXIED: dict[str, Write] = {
    "one proxy": lambda e: combined(e, client="10.0.0.1"),
    "two proxies": lambda e: combined(e, client=f"198.51.100.{e.number % 2}"),
    "proxies by chance": lambda e: combined(e, client=f"10.0.0.{(e.number * 7 + e.at.second) % 3}"),
    "the forwarded address is never there": lambda e: combined(e, client="172.18.0.1", tail=' "-"'),
    "the forwarded address is a proxy's, too": lambda e: combined(
        e, client="172.18.0.1", tail=' "10.0.0.1"'
    ),
    "JSON": lambda e: of_json(
        e, time=e.iso, remote_addr="10.0.0.1", request=e.line, status=200, http_user_agent=e.agent
    ),
    "common format": lambda e: f'10.0.0.1 - - [{e.clf}] "{e.line}" 200 12',
}


@pytest.mark.parametrize("write", PROXIED.values(), ids=PROXIED.keys())
def test_proxies_are_told_with_figures(tmp_path: Path, write: Write) -> None:
    said = notes(log(tmp_path, write))[-1]
    addresses = len({line.address for line in read_access_log(log(tmp_path, write))})
    assert said.startswith(f"{addresses} address")
    assert f"for {REQUESTS} requests of access.log" in said
    assert "proxies" in said


UNKNOWN: dict[str, Write] = {
    "dashes": lambda e: combined(e, client="-"),
    "unknown": lambda e: combined(e, client="unknown"),
    "both": lambda e: combined(e, client="unknown" if e.number % 2 else "-"),
    "a list of unknown": lambda e: combined(e, client="unknown, -"),
    "behind a virtual host": lambda e: f"shop.example:80 {combined(e, client='-')}",
    "by docker compose": lambda e: f"web-1  | {combined(e, client='-')}",
    "JSON without a client": lambda e: of_json(
        e, time=e.iso, request=e.line, status=200, http_user_agent=e.agent
    ),
}


@pytest.mark.parametrize("write", UNKNOWN.values(), ids=UNKNOWN.keys())
def test_clients_that_are_not_known_are_told(tmp_path: Path, write: Write) -> None:
    said = notes(log(tmp_path, write))[-1]
    assert said.startswith(f"{REQUESTS} of {REQUESTS} requests of access.log have no client's")
    assert "2 browsers count as one visitor each" in said


def test_few_clients_that_are_not_known_are_told(tmp_path: Path) -> None:
    file = log(tmp_path, lambda e: combined(e, client=e.ip if e.number % 5 else "-"))
    (said,) = notes(file)
    assert said.startswith("25 of 120 requests")


def test_nothing_is_said_of_visitors_who_are_told_apart(tmp_path: Path) -> None:
    assert notes(log(tmp_path, combined)) == []


KINDS = ("/", "/shop", "/items/7", "/cart", "/about", "/search", "/help", "/account")


def person(
    dice: random.Random, number: int, pages: int, median_s: float, *, calls: int = 0
) -> Iterator[Line]:
    """A session: think times are log-normal; a page's program calls for more at once."""
    at = START.timestamp() + dice.uniform(0, 600)
    for _ in range(pages):
        page = dice.choice(KINDS)
        for target in (page, *(f"/api/{n}" for n in range(calls))):
            yield Line(
                int(at) * 10**9, f"192.168.0.{number}", "", AGENTS[0], "GET", target, "", 200
            )
            at += 0.15
        at += dice.lognormvariate(0, 0.8) * median_s


def merged(lines: Iterator[Line]) -> list[Line]:
    """The same behind one proxy."""
    return [
        Line(each.time_ns, "10.0.0.1", "", each.agent, "GET", each.target, "", 200)
        for each in sorted(lines, key=lambda line: line.time_ns)
    ]


def is_crowd(lines: list[Line]) -> bool:
    return bool(crowded(visits_of(sorted(lines, key=lambda line: line.time_ns))))


@pytest.mark.parametrize(
    ("testers", "pages", "median_s", "calls"),
    [(1, 15, 2, 0), (1, 60, 6, 0), (2, 40, 5, 0), (3, 90, 8, 0), (2, 40, 5, 6), (5, 30, 10, 12)],
)
def test_few_testers_are_no_proxies(testers: int, pages: int, median_s: float, calls: int) -> None:
    flagged = 0
    for seed in range(20):
        dice = random.Random(seed)
        lines = [
            line
            for number in range(testers)
            for line in person(dice, number, pages, median_s, calls=calls)
        ]
        flagged += is_crowd(lines)
    assert flagged <= 1


@pytest.mark.parametrize(
    ("people", "pages", "median_s", "calls"),
    [(40, 5, 6, 0), (20, 8, 10, 0), (100, 4, 20, 0), (300, 3, 8, 0), (60, 5, 6, 4)],
)
def test_many_behind_a_proxy_are_told(people: int, pages: int, median_s: float, calls: int) -> None:
    told = 0
    for seed in range(20):
        dice = random.Random(seed)
        lines = (
            line
            for number in range(people)
            for line in person(dice, number, pages, median_s, calls=calls)
        )
        told += is_crowd(merged(lines))
    assert told >= 19


def test_a_quick_redirection_is_no_second_person() -> None:
    dice = random.Random(1)
    lines = []
    for line in person(dice, 1, 40, 6):
        lines.append(Line(line.time_ns, "192.168.0.1", "", "", "GET", "/old", "", 302))
        lines.append(line)
    assert not crowded([lines])


def test_a_program_that_asks_all_the_time_is_told() -> None:
    lines = [
        Line(second * 10**9, "192.168.0.1", "", "", "GET", "/status", "", 200)
        for second in range(60)
    ]
    assert is_crowd(lines)


def test_a_day_of_visits_by_one_is_no_crowd() -> None:
    lines = [
        Line(int((START + timedelta(hours=h, seconds=9 * n)).timestamp()) * 10**9, "::1", "", "",
             "GET", KINDS[n % 8], "", 200)
        for h in range(20)
        for n in range(15)
    ]  # fmt: skip
    assert not is_crowd(lines)
