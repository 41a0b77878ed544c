"""Access logs of many forms: the visits of the same shop are found in each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.own.made_logs import (
    Asked,
    Write,
    check,
    combined,
    haproxy,
    log,
    of_json,
    proxy,
)
from tierlab.workloads.own.logged import notes
from tierlab.workloads.own.replayed import replayed

LISTS: dict[str, Write] = {
    "a list of all": lambda e: combined(e, client=f"{e.ip}, {proxy(e)}"),
    "lists of some": lambda e: combined(
        e, client=f"{e.ip}, {proxy(e)}, 10.0.0.1" if e.number % 3 else e.ip
    ),
    "of some requests": lambda e: combined(
        e, client=f"{e.ip}, {proxy(e)}" if e.at.second % 2 else e.ip
    ),
    "without blanks": lambda e: combined(e, client=f"{e.ip},{proxy(e)}"),
    "unknown first": lambda e: combined(e, client=f"unknown, {e.ip}, {proxy(e)}"),
    "an inner address first": lambda e: combined(e, client=f"192.168.1.7, {e.ip}, {proxy(e)}"),
    "ports": lambda e: combined(e, client=f"{e.ip}:4{e.at.second:03}, {proxy(e)}:443"),
    "IPv6": lambda e: combined(e, client=f"2001:db8::{e.number + 1:x}, {proxy(e)}"),
    "IPv6 in brackets": lambda e: combined(
        e, client=f"[2001:db8::{e.number + 1:x}]:4{e.at.second:03}, {proxy(e)}"
    ),
    "IPv4 in IPv6": lambda e: combined(
        e, client=f"::ffff:{e.ip}" if e.at.second % 2 else f"{e.ip}, ::ffff:10.0.0.1"
    ),
    "in quotes": lambda e: combined(e, client=f'"{e.ip}, {proxy(e)}"'),
    "behind the proxy's": lambda e: combined(e, client=f"10.0.0.1 {e.ip}, {proxy(e)}"),
    "before the proxy's": lambda e: combined(e, client=f"{e.ip} 10.0.0.1"),
    "before the proxy's, some": lambda e: combined(
        e, client=f"{e.ip}, {proxy(e)} 10.0.0.1" if e.number % 3 else f"{e.ip} 10.0.0.1"
    ),
    "then the proxy's at the end": lambda e: combined(
        e, client=f"{e.ip}, {proxy(e)}" if e.number % 3 else e.ip, tail=f' "{proxy(e)}"'
    ),
}
LATER: dict[str, Write] = {
    "nginx' main": lambda e: combined(e, client=proxy(e), tail=f' "{e.ip}"'),
    "lists": lambda e: combined(e, client=proxy(e), tail=f' "{e.ip}, {proxy(e)}"'),
    "some are direct": lambda e: combined(
        e,
        client=proxy(e) if e.number % 3 else e.ip,
        tail=f' "{e.ip}"' if e.number % 3 else ' "-"',
    ),
    "more fields follow": lambda e: combined(
        e, client=proxy(e), tail=f' "{e.ip}" 0.012 "10.0.0.{e.at.second % 3}:8080" "abc{e.number}"'
    ),
    "more fields before": lambda e: combined(
        e, client=proxy(e), tail=f' rt=0.012 "10.0.0.7:8080" "shop.example" "{e.ip}"'
    ),
    "without quotes": lambda e: combined(e, client=proxy(e), tail=f" {e.ip}, {proxy(e)} 0.012"),
    "before the browser": lambda e: (
        f'{proxy(e)} - - [{e.clf}] "{e.line}" 200 12 "-" "{e.ip}" "{e.agent}"'
    ),
    "before the request": lambda e: (
        f'{proxy(e)} - - [{e.clf}] "{e.ip}" "{e.line}" 200 12 "-" "{e.agent}"'
    ),
    "RFC 7239": lambda e: combined(
        e, client=proxy(e), tail=f' "for={e.ip};proto=https, for={proxy(e)}"'
    ),
    "the server's own is there, too": lambda e: combined(
        e, client=proxy(e), tail=f' "10.0.0.80" "{e.ip}"'
    ),
    "only the server's own": lambda e: combined(e, tail=' "10.0.0.80"'),
    "a proxy's in a later field": lambda e: combined(e, tail=f' "{proxy(e)}"'),
}
USERS: dict[str, Write] = {
    name: lambda e, user=user: combined(e, user=user if e.number % 2 else "-")  # type: ignore[misc]
    for name, user in {
        "blanks": "Jane Doe",
        "more blanks": "Jane  van der Doe",
        "quotes": '\\"jane \\"',
        "empty": '""',
        "a comma": "Doe, Jane",
        "an address": "jane@shop.example",
        "escaped": "J\\xc3\\xa9r\\xc3\\xb4me D",
        "brackets": "jane [admin]",
        "a domain": "SHOP\\\\jane doe",
    }.items()
}
FRONTS: dict[str, Write] = {
    name: lambda e, front=front: front + combined(e)  # type: ignore[misc]
    for name, front in {
        "a virtual host": "shop.example:80 ",
        "a virtual host without a port": "shop.example ",
        "a virtual host by address": "10.0.0.2:80 ",
        "docker compose": "web-1  | ",
        "docker compose in colours": "\x1b[36mweb-1  | \x1b[0m",
        "syslog": "Mar  4 23:58:00 lb nginx: ",
        "syslog by address": "<190>Mar  4 23:58:00 10.0.0.7 nginx[12]: ",
        "RFC 5424": "<134>1 2026-03-04T23:58:00.003Z lb nginx 12 - - ",
        "a container runtime": "2026-03-04T23:58:00.123456789Z stdout F ",
        "docker logs -t": "2026-03-04T23:58:00.123456789Z ",
        "journalctl": "Mar 04 23:58:00 lb nginx[12]: ",
        "kubectl --prefix": "[pod/web-5d/nginx] ",
    }.items()
}
OTHERS: dict[str, Write] = {
    "common": lambda e: f'{e.ip} - - [{e.clf}] "{e.line}" 200 12',
    "a number before the request": lambda e: (
        f'{e.ip} - - [{e.clf}] 24675 "{e.line}" 200 12 "-" "{e.agent}"'
    ),
    "a time before the request": lambda e: (
        f'{e.ip} - - [{e.clf}] 0.012 0.011 "{e.line}" 200 12 "-" "{e.agent}"'
    ),
    "a quoted time before the request": lambda e: (
        f'{e.ip} - - [{e.clf}] "0.012" "{e.line}" 200 12 "-" "{e.agent}"'
    ),
    "the host behind the request": lambda e: (
        f'{e.ip} - - [{e.clf}] "{e.line}" "shop.example" 200 12 "-" "{e.agent}"'
    ),
    "ISO times": lambda e: f'{e.ip} - - [{e.iso}] "{e.line}" 200 12 "-" "{e.agent}"',
    "the time first": lambda e: f'[{e.clf}] {e.ip} "{e.line}" 200 12 "-" "{e.agent}"',
    "a time without brackets": lambda e: f'{e.iso} {e.ip} "{e.line}" 200 12 "-" "{e.agent}"',
    "browser before referrer": lambda e: (
        f'{e.ip} - - [{e.clf}] "{e.line}" 200 12 "{e.agent}" "http://shop.example{e.target}"'
    ),
    "referrers": lambda e: (
        f'{e.ip} - - [{e.clf}] "{e.line}" 200 12 "http://shop.example/{e.at.second}" "{e.agent}"'
    ),
    "HTTP/2": lambda e: combined(e).replace("HTTP/1.1", "HTTP/2.0"),
    "absolute targets": lambda e: combined(e).replace("GET /", "GET http://shop.example/"),
    "an absolute target without a path": lambda e: combined(e).replace(
        "GET / ", "GET http://shop.example "
    ),
    "Traefik": lambda e: combined(e, tail=f' {e.number} "shop@docker" "http://172.18.0.3:80" 3ms'),
    "ingress-nginx": lambda e: combined(
        e, tail=" 412 0.003 [default-shop-80] [] 10.244.0.5:8080 512 0.003 200 8f2d0c"
    ),
    "quotes in the browser": lambda e: combined(e).replace("Firefox", 'My \\"own\\" Firefox'),
    "gunicorn in a local zone": lambda e: combined(e).replace("+0000", "-0000"),
    "Werkzeug": lambda e: f'{e.ip} - - [{e.at:%d/%b/%Y %H:%M:%S}] "{e.line}" 200 -',
    "nothing but dashes for an agent, names for clients": lambda e: combined(
        e, client=f"pc{e.number}.example"
    ),
    "HAProxy": haproxy,
    "HAProxy by syslog": lambda e: f"Mar  4 23:58:00 lb haproxy[7]: {haproxy(e)}",
    "HAProxy by syslog with an ISO time": lambda e: (
        f"2026-03-04T23:58:00.123+00:00 lb haproxy[7]: {haproxy(e)}"
    ),
    "HAProxy with captured headers": lambda e: haproxy(e, f" {{{e.ip}|{e.agent}}} {{}}").replace(
        f"{e.ip}:5", "10.0.0.1:5"
    ),
    "HAProxy with HTTP/2": lambda e: haproxy(e).replace("GET /", "GET https://shop.example/"),
    "HAProxy with TLS": lambda e: haproxy(e) + " 0/0000000000000000/0/0/0 shop.example/TLSv1.3/-",
}
NGINX_JSON: dict[str, Any] = {
    "time": "{each.iso}",
    "remote_addr": "{each.ip}",
    "request": "{each.line}",
    "status": "200",
    "http_user_agent": "{each.agent}",
}
CADDY: dict[str, Any] = {
    "level": "info",
    "ts": lambda e: e.seconds + 0.25,
    "logger": "http.log.access.log0",
    "msg": "handled request",
    "request": {
        "remote_ip": "{each.ip}",
        "remote_port": "5100",
        "proto": "HTTP/2.0",
        "method": "GET",
        "host": "shop.example",
        "uri": "{each.target}",
        "headers": {"User-Agent": ["{each.agent}"], "Accept": ["*/*"]},
    },
    "bytes_read": 0,
    "duration": 0.01,
    "size": 5,
    "status": 200,
    "resp_headers": {"Server": ["Caddy"], "Date": ["Wed, 04 Mar 2020 00:00:00 GMT"]},
}
BEHIND: dict[str, Any] = {
    **CADDY["request"],
    "remote_ip": proxy,
    "client_ip": "{each.ip}",
}
JSONS: dict[str, dict[str, Any]] = {
    "nginx": NGINX_JSON,
    "nginx with msec, uri and args": {
        "msec": lambda e: f"{e.seconds}.250",
        "time_iso8601": "{each.iso}",
        "remote_addr": "{each.ip}",
        "request_method": "GET",
        "uri": lambda e: e.target.partition("?")[0],
        "args": lambda e: e.target.partition("?")[2],
        "status": 200,
        "request_time": "0.012",
        "upstream_addr": lambda e: f"10.0.0.{e.at.second % 3}:80",
        "upstream_status": "200",
    },
    "nginx behind a proxy": {
        **NGINX_JSON,
        "remote_addr": proxy,
        "http_x_forwarded_for": lambda e: f"{e.ip}, {proxy(e)}",
    },
    "nginx, some behind a proxy": {
        **NGINX_JSON,
        "remote_addr": lambda e: proxy(e) if e.number % 2 else e.ip,
        "http_x_forwarded_for": lambda e: e.ip if e.number % 2 else "-",
    },
    "nginx with names of one's own": {
        "t": "{each.clf}",
        "ip": "{each.ip}",
        "req": "{each.line}",
        "code": 200,
        "bytes": 512,
        "ua": "{each.agent}",
    },
    "nginx with names that say nothing": {
        "f1": "{each.iso}",
        "f2": "{each.ip}",
        "f3": "{each.line}",
        "f4_status": "200",
        "f5": "{each.agent}",
    },
    "nginx in a table": {"nginx": NGINX_JSON, "level": "info"},
    "Caddy": CADDY,
    "Caddy behind a proxy": {**CADDY, "request": BEHIND},
    "Caddy that trusts no proxy": {
        **CADDY,
        "request": {
            **BEHIND,
            "client_ip": proxy,
            "headers": {"X-Forwarded-For": ["{each.ip}"], "User-Agent": ["{each.agent}"]},
        },
    },
    "Caddy with written times": {**CADDY, "ts": "{each.at:%Y/%m/%d %H:%M:%S}"},
    "Traefik": {
        "ClientAddr": lambda e: f"{e.ip}:5{e.at.second:04}",
        "ClientHost": "{each.ip}",
        "ClientPort": "5100",
        "ClientUsername": "-",
        "DownstreamStatus": 200,
        "OriginStatus": 200,
        "Duration": 1200345,
        "RequestAddr": "shop.example",
        "RequestHost": "shop.example",
        "RequestMethod": "GET",
        "RequestPath": "{each.target}",
        "RequestProtocol": "HTTP/1.1",
        "RouterName": "shop@docker",
        "ServiceURL": "http://172.18.0.3:80",
        "StartLocal": "{each.iso}",
        "StartUTC": "{each.at:%Y-%m-%dT%H:%M:%S}.000000123Z",
        "downstream_Date": "Wed, 04 Mar 2020 00:00:00 GMT",
        "level": "info",
        "msg": "",
        "request_User-Agent": "{each.agent}",
        "time": "2026-03-05T09:00:00Z",
    },
    "Elastic's names": {
        "@timestamp": "{each.iso}",
        "source": {"address": "{each.ip}", "ip": "{each.ip}"},
        "http": {"request": {"method": "GET"}, "response": {"status_code": 200}},
        "url": {"original": "{each.target}"},
        "user_agent": {"original": "{each.agent}"},
    },
    "pino": {
        "level": 30,
        "time": lambda e: e.seconds * 1000,
        "req": {"method": "GET", "url": "{each.target}", "remoteAddress": "{each.ip}"},
        "res": {"statusCode": 200},
    },
    "docker's own file": {
        "log": lambda e: combined(e) + "\n",
        "stream": "stdout",
        "time": "2026-03-05T09:00:00.1Z",
    },
    "JSON in docker's own file": {
        "log": lambda e: of_json(e, **NGINX_JSON) + "\n",
        "stream": "stdout",
        "time": "2026-03-05T09:00:00.1Z",
    },
}
OTHERS |= {
    f"JSON of {name}": lambda e, keys=keys: of_json(e, **keys)  # type: ignore[misc]
    for name, keys in JSONS.items()
}
OTHERS["JSON by docker compose"] = lambda e: f"web-1  | {of_json(e, **NGINX_JSON)}"
OTHERS["JSON by syslog"] = lambda e: f"Mar  4 23:58:00 lb nginx: {of_json(e, **NGINX_JSON)}"
ALL = {
    f"{kind}: {name}": write
    for kind, members in (
        ("list in front", LISTS),
        ("list behind", LATER),
        ("user", USERS),
        ("in front", FRONTS),
        ("other", OTHERS),
    )
    for name, write in members.items()
}


@pytest.mark.parametrize("write", ALL.values(), ids=ALL.keys())
def test_all_visits_are_found(tmp_path: Path, write: Write) -> None:
    check(log(tmp_path, write))


IIS = (
    "date time s-ip cs-method cs-uri-stem cs-uri-query s-port cs-username c-ip"
    " cs(User-Agent) cs(Referer) sc-status sc-substatus sc-win32-status time-taken"
)


def iis(each: Asked, client: str | None = None) -> str:
    path, _, query = each.target.partition("?")
    agent = each.agent.replace(" ", "+")
    return (
        f"{each.at:%Y-%m-%d %H:%M:%S} 10.0.0.2 GET {path} {query or '-'} 80 -"
        f" {client or each.ip} {agent} - 200 0 0 12"
    )


@pytest.mark.parametrize(
    ("directives", "write"),
    [
        (["#Software: IIS 10.0", "#Version: 1.0", f"#Fields: {IIS}"], iis),
        (
            [f"#Fields: {IIS} X-Forwarded-For"],
            lambda e: f"{iis(e, proxy(e))} {e.ip},+{proxy(e)}",
        ),
        (
            [
                "#Version: 1.0",
                "#Fields: date time c-ip cs-method cs-uri-stem sc-status cs-uri-query",
            ],
            lambda e: "\t".join(
                [
                    *f"{e.at:%Y-%m-%d} {e.at:%H:%M:%S} {e.ip} GET".split(),
                    e.target.split("?")[0],
                    "200",
                    e.target.partition("?")[2] or "-",
                ]
            ),
        ),
    ],
    ids=["IIS", "IIS behind a proxy", "CloudFront"],
)
def test_the_fields_of_an_extended_log_are_those_that_it_says(
    tmp_path: Path, directives: list[str], write: Write
) -> None:
    file = log(tmp_path, write, before=directives, between=["#Date: 2026-03-04 23:58:00"])
    check(file)
    assert not any("passed over" in note for note in notes(file))


def test_an_extended_log_may_change_its_fields(tmp_path: Path) -> None:
    def write(each: Asked) -> str:
        if each.number != 12:
            return iis(each)
        path, _, query = each.target.partition("?")
        return (
            f"#Fields: time c-ip cs-method cs-uri-stem cs-uri-query cs(User-Agent) sc-status\n"
            f"#Date: {each.at:%Y-%m-%d} 00:00:00\n"
            f"{each.at:%H:%M:%S} {each.ip} GET {path} {query or '-'} {each.agent[:11]} 200\n"
            f"#Fields: {IIS}"
        )

    check(log(tmp_path, write, before=[f"#Fields: {IIS}"]))


def test_fractions_of_seconds_are_kept_in_a_replay(tmp_path: Path) -> None:
    lines = [
        json.dumps({"ts": 1772668680.2 + at, "method": "GET", "uri": "/", "status": 200})
        for at in (0, 0.5, 3.25)
    ]
    file = tmp_path / "access.log"
    file.write_text("\n".join(lines))
    (visit,) = replayed(file, {})["visits"]
    assert [at for at, _, _ in visit] == [200_000_000, 700_000_000, 3_450_000_000]
