"""What tests of real servers share: the data's size, and talking to the tiers of a system."""

from __future__ import annotations

import http.client
from datetime import date

from tierlab.deploy.system import Subject, System
from tierlab.environments.native.native import Native
from tierlab.servers.endpoint import Endpoint
from tierlab.servers.greetings import mysql_login

SCALE = 0.0005
"""The smallest data set."""
LOAD_DAY = date(2026, 11, 20)
WEB = Endpoint("127.0.1.1", 8080, "http")
STEPS = (
    "db: seed data",
    "db.1: mariadb",
    "lb.1: haproxy",
    "app.1: tomcat",
    "web.1: httpd",
)


def nothing(_step: str) -> None:
    """Progress that nobody reads."""


def fetch(native: Native, path: str, request_id: str, endpoint: Endpoint = WEB) -> tuple[int, str]:
    connection = http.client.HTTPConnection(str(endpoint))
    connection.sock = native.connect(endpoint.address, endpoint.port, timeout=20)
    connection.request("GET", path, headers={"X-Request-Id": request_id})
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text


def query(
    native: Native, system: System, endpoint: Endpoint, statement: str
) -> list[tuple[object, ...]]:
    link = native.connect(endpoint.address, endpoint.port, timeout=20)
    known = system.credentials
    with (
        mysql_login(link, known.user, known.password, known.database) as login,
        login.cursor() as cursor,
    ):
        cursor.execute(statement)
        return list(cursor.fetchall())


def running(system: System, name: str) -> Subject:
    (found,) = (subject for subject in system.subjects() if subject.name == name)
    return found
