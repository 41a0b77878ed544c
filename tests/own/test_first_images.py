"""Migrations that come as images of their own: run to their end before the server, in podman."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.command import Start
from tests.conftest import host
from tests.environments.obstacle import obstacle
from tests.own.made_images import PREFIX, made_image, podman
from tests.own.test_images import EXPERIMENT, LINES
from tests.trial.left import check_nothing_left

pytestmark = [
    pytest.mark.slow,
    pytest.mark.privileged,
    pytest.mark.environments,
    pytest.mark.skipif(
        (reason := obstacle("podman")) is not None, reason=f"needs podman: {reason}"
    ),
]

SERVER = """\
const fs = require('fs'), http = require('http');
const rows = fs.readdirSync('/rows').map((name) => fs.readFileSync('/rows/' + name, 'utf8'));
console.log(JSON.stringify({ rows, literal: process.env.LITERAL }));
http.createServer((request, reply) => reply.end('<a href="/">page</a>')).listen(8080);
"""
COMPOSE = """\
services:
  web:
    image: {server}
    command: [node, main.js]
    environment: {{ LITERAL: "$$HOME" }}
    ports: ["80:8080"]
    volumes: ["rows:/rows"]
    depends_on:
      first: {{ condition: service_completed_successfully }}
      second: {{ condition: service_completed_successfully }}
  first:
    image: {migration}
    command: ["echo one $$LITERAL $$(id -u) > /rows/1; echo did first"]
    environment: {{ LITERAL: "$$HOME" }}
    user: "0:0"
    volumes: ["rows:/rows"]
  second:
    image: {migration}
    command: ["{second}"]
    user: "0:0"
    volumes: ["rows:/rows"]
    depends_on: {{ first: {{ condition: service_completed_successfully }} }}
volumes: {{ rows: }}
"""
WORKS = "read -r line < /rows/1; echo two after $$line > /rows/2"


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """A server's image, and another that has a shell."""
    place = tmp_path_factory.mktemp("images")
    (place / "main.js").write_text(SERVER)
    program = {"/app/main.js": place / "main.js"}
    shell = ('ENTRYPOINT ["/bin/sh", "-c"]',)
    with (
        made_image("first-node", place, programs=["node"], trees=program, lines=LINES) as server,
        made_image(
            "first-sh", place, programs=["/bin/sh", "/usr/bin/id"], lines=shell
        ) as migration,
    ):
        yield server, migration


def written(place: Path, images: tuple[str, str], second: str) -> None:
    server, migration = images
    text = COMPOSE.format(server=server, migration=migration, second=second)
    (place / "compose.yml").write_text(text)
    (place / "e.toml").write_text(EXPERIMENT % 'compose = "compose.yml"')


def test_migrations_of_another_image_end_in_their_order_before_the_server_starts(
    tierlab: Start, tmp_path: Path, images: tuple[str, str]
) -> None:
    written(tmp_path, images, WORKS)
    before, containers = host(), podman("ps", "--all", "--quiet")
    command = tierlab("run", "e.toml")
    ended = command.end()
    assert ended.status == 0, ended.stderr
    check_nothing_left(command, tmp_path, before)
    assert podman("ps", "--all", "--quiet") == containers
    logs = tmp_path / "runs" / "t" / "001" / "logs"
    said = json.loads((logs / "web.1/logs/console.log").read_text())
    assert said == {
        "rows": ["one $HOME 0\n", "two after one $HOME 0\n"],
        "literal": "$HOME",
    }
    assert (logs / "web.1.first/logs/console.log").read_text() == "did first\n"


@pytest.mark.parametrize(
    ("second", "ends"),
    [
        ("echo no such column; exit 3", "ended with 3; its log ends: no such column"),
        (
            "while :; do read -t 1 line < /rows/none; done",
            "did not end within 2 seconds; say `within` in its table",
        ),
        ("kill -9 $$$$", "was killed by signal 9"),
    ],
)
def test_a_migration_that_fails_ends_the_trial_with_a_sentence(
    tierlab: Start, tmp_path: Path, images: tuple[str, str], second: str, ends: str
) -> None:
    written(tmp_path, images, second)
    with (tmp_path / "e.toml").open("a") as file:
        file.write('[system.second]\nwithin = "2s"\n')
    before = host()
    command = tierlab("run", "e.toml")
    ended = command.end()
    assert ended.status != 0
    assert f"web.1.second: {ends}" in ended.stderr
    check_nothing_left(command, tmp_path, before)
    assert not podman("ps", "--all", "--quiet", f"--filter=ancestor={PREFIX}-first-sh")
