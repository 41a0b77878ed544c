"""Access logs whose format is given as the server writes it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from tests.own.made_logs import (
    START,
    VISITORS,
    Asked,
    Write,
    check,
    combined,
    haproxy,
    log,
    proxy,
)
from tierlab.errors import UserError
from tierlab.exchange.access_log import read_access_log
from tierlab.experiment import Experiment

GIVEN: dict[str, tuple[str, Write]] = {
    "nginx": (
        '$remote_addr - $remote_user [$time_local] "$request" $status $bytes_sent'
        ' "$http_referer" "$http_user_agent" "$http_x_forwarded_for"',
        lambda e: combined(e, client=proxy(e), user="Jane Doe", tail=f' "{e.ip}, {proxy(e)}"'),
    ),
    "nginx' directive": (
        "log_format main escape=default '$remote_addr - $remote_user [$time_local] \"$request\" '\n"
        '    \'$status $body_bytes_sent "$http_referer" "$http_user_agent"\';',
        combined,
    ),
    "nginx, the status first": (
        "$status $request_time $remote_addr:$remote_port $msec $request_method $request_uri",
        lambda e: f"200 0.012 {e.ip}:5100 {e.seconds}.000 GET {e.target}",
    ),
    "nginx, bars": (
        "$time_iso8601|$upstream_addr|$status|$remote_addr|$request_method|"
        "$scheme://$host$request_uri|$http_user_agent",
        lambda e: (
            f"{e.iso}|10.0.0.7:80, 10.0.0.8:80|200|{e.ip}|GET|https://shop.example{e.target}|{e.agent}"
        ),
    ),
    "nginx, JSON": (
        'log_format j escape=json \'{\' \'"a":"$time_local","b":"$remote_addr",\''
        ' \'"c":"$request","d":$status\' \'}\';',
        lambda e: f'{{"a":"{e.clf}","b":"{e.ip}","c":"{e.line}","d":200}}',
    ),
    "Apache": ('%h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-Agent}i"', combined),
    "Apache's directive": (
        'LogFormat "%v:%p %h %l %u %t \\"%r\\" %>s %O \\"%{Referer}i\\" \\"%{User-Agent}i\\"" v',
        lambda e: f"shop.example:80 {combined(e)}",
    ),
    "Apache, forwarded, duration first": (
        '%D %{X-Forwarded-For}i %a %t %m %U%q %>s "%{User-agent}i"',
        lambda e: f'512 {e.ip}, {proxy(e)} {proxy(e)} [{e.clf}] GET {e.target} 200 "{e.agent}"',
    ),
    "Apache, a time of one's own": (
        "%{%Y-%m-%d %H:%M:%S}t.%{msec_frac}t %h %s %r",
        lambda e: f"{e.at:%Y-%m-%d %H:%M:%S}.250 {e.ip} 200 {e.line}",
    ),
    "HAProxy": (
        "%ci:%cp [%tr] %ft %b/%s %TR/%Tw/%Tc/%Tr/%Ta %ST %B %CC %CS %tsc %ac/%fc/%bc/%sc/%rc"
        " %sq/%bq %hr %hs %{+Q}r",
        lambda e: haproxy(e, f" {{{e.agent}}} {{}}"),
    ),
}


@pytest.mark.parametrize(("log_format", "write"), GIVEN.values(), ids=GIVEN.keys())
def test_a_format_is_given_as_the_server_writes_it(
    tmp_path: Path, log_format: str, write: Write
) -> None:
    check(log(tmp_path, write), log_format=log_format)


@pytest.mark.parametrize("log_format", ["combined", "%h %u", "$remote_addr $status", "$time_local"])
def test_a_format_without_a_request_is_refused(tmp_path: Path, log_format: str) -> None:
    with pytest.raises(UserError, match=r"^log_format: has no .*request"):
        read_access_log(log(tmp_path, combined), log_format)


def test_lines_that_are_not_as_the_given_format_says_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="of log_format; correct log_format"):
        read_access_log(log(tmp_path, combined), "$msec $request_method $request_uri $status")


def test_a_line_of_another_form_is_soon_refused(tmp_path: Path) -> None:
    """A pattern of many fields does not try all ways to divide a long line among them."""
    began = time.process_time()
    file = tmp_path / "access.log"
    file.write_text(combined(Asked(1, START, "/")) + "\n" + "GET 200 a/b:c, d " * 400 + "\n")
    for log_format, _ in GIVEN.values():
        try:
            read_access_log(file, log_format)
        except UserError:
            continue
    assert time.process_time() - began < 10


def tables(**sessions: Any) -> dict[str, Any]:
    web = {"command": "/bin/true {port}", "port": 8000}
    return {
        "experiment": {"name": "e"},
        "system": {"workload": "own", "web": web, "sessions": sessions},
        "load": {"users": 3},
    }


def test_a_plan_keeps_the_given_format(tmp_path: Path) -> None:
    given = "$msec $remote_addr $request_method $request_uri $status"
    file = log(tmp_path, lambda e: f"{e.seconds}.0 {e.ip} GET {e.target} 200")
    (plan,) = Experiment.from_tables(tables(log=str(file), log_format=given), "my.toml").trials()
    assert plan.as_file()["system"]["sessions"]["log_format"] == given
    (again,) = Experiment.from_tables(plan.as_file(), "again.toml").trials()
    assert len(again.system.application.replayed()["visits"]) == VISITORS
    (plan,) = Experiment.from_tables(tables(log=str(log(tmp_path, combined))), "my.toml").trials()
    assert "log_format" not in plan.as_file()["system"]["sessions"]


@pytest.mark.parametrize(
    ("sessions", "said"),
    [
        ({"start": "/", "log_format": "%h"}, "sessions.log_format goes with log; remove it"),
        ({"log_format": "%h %u"}, "sessions.log_format has no time and no status and no request"),
    ],
)
def test_a_format_that_cannot_be_used_is_named(
    tmp_path: Path, sessions: dict[str, Any], said: str
) -> None:
    if "start" not in sessions:
        sessions = sessions | {"log": str(log(tmp_path, combined))}
    with pytest.raises(UserError) as raised:
        Experiment.from_tables(tables(**sessions), "my.toml")
    assert said in str(raised.value)
