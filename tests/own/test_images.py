"""Servers that come as container images, and as a compose file's services, in podman."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

import pytest

import tierlab as api
from tests.command import Start
from tests.conftest import host
from tests.environments.obstacle import obstacle
from tests.own.compose_shop import SECRET, SHOP, compose_shop
from tests.own.made_images import PREFIX, made_image, podman
from tests.trial.left import check_clean_clears, check_nothing_left, traces_of

pytestmark = [
    pytest.mark.slow,
    pytest.mark.privileged,
    pytest.mark.skipif(
        (reason := obstacle("podman")) is not None, reason=f"needs podman: {reason}"
    ),
]

PROGRAM = """\
const fs = require('fs'), http = require('http');
fs.appendFileSync('/data/notes', process.argv[2] + '\\n');
console.log(JSON.stringify({ uid: process.getuid(), cwd: process.cwd(), seen: process.env }));
const page = '<a href="/other">other</a>';
function answer(request, reply) {
  if (!process.env.BACK) return reply.end(page);
  http.get(process.env.BACK + request.url, (got) => got.resume().on('end', () => {
    reply.setHeader('Content-Type', 'text/html');
    reply.end(page);
  })).on('error', (error) => reply.writeHead(502).end(String(error)));
}
http.createServer(answer).listen(8080);
"""
TWO = """\
services:
  front:
    image: {image}
    command: [node, main.js, "${{WHO:-the front}}"]
    environment: {{ BACK: "http://the_back-office:8080", API_KEY: hunter2hunter2 }}
    ports: ["80:8080"]
    volumes: ["./data:/data"]
    depends_on: [the_back-office]
  the_back-office:
    image: {image}
    command: node main.js back
    tmpfs: /data
    deploy: {{ replicas: 2 }}
    healthcheck:
      test: ["CMD", "node", "-e", "{check}"]
"""
EXPERIMENT = """\
[experiment]
name = "t"
[system]
workload = "own"
environment = "podman"
sessions = { start = "/" }
%s
[load]
users = 3
think = "100ms"
phases = { ramp_up = "0s", runtime = "1s", ramp_down = "0s" }
"""
CHECK = (
    "require('http').get('http://127.0.0.1:8080', (reply) => process.exit(reply.statusCode - 200))"
    ".on('error', () => process.exit(1))"
)
LINES = ("WORKDIR /app", "USER shop", "ENV MODE=production", "EXPOSE 8080", 'CMD ["node"]')


@pytest.mark.environments
def test_services_that_listen_on_one_port_to_a_report(tierlab: Start, tmp_path: Path) -> None:
    (tmp_path / "main.js").write_text(PROGRAM)
    (tmp_path / "data").mkdir(mode=0o777)
    (tmp_path / "data").chmod(0o777)
    (tmp_path / "data" / "notes").write_text("mine\n")
    (tmp_path / "data" / "notes").chmod(0o666)
    program = {"/app/main.js": tmp_path / "main.js"}
    with made_image(
        "node", tmp_path / "image", programs=["node"], trees=program, lines=LINES
    ) as it:
        (tmp_path / "compose.yml").write_text(TWO.format(image=it, check=CHECK))
        (tmp_path / "e.toml").write_text(EXPERIMENT % 'compose = "compose.yml"')
        before, containers = host(), podman("ps", "--all", "--quiet")
        command = tierlab("run", "e.toml")
        ended = command.end()
        assert ended.status == 0, ended.stderr
        check_nothing_left(command, tmp_path, before)
        assert podman("ps", "--all", "--quiet") == containers
    assert not podman("images", "--quiet", f"--filter=reference={PREFIX}-*")
    folder = tmp_path / "runs" / "t" / "001"
    run = api.open(folder)
    servers = {"front.1", "thebackoffic.1", "thebackoffic.2"}
    assert set(run.manifest.servers) == servers
    assert {"front.1", "thebackoffic.1"} <= set(run.visits.server.execute())
    assert not run.requests.error.execute().dropna().ne("cut").any()
    assert {"front.1", "thebackoffic.1"} <= set(run.process.subject.execute()) <= servers
    said = json.loads((folder / "logs/front.1/logs/console.log").read_text())
    assert (said["uid"], said["cwd"]) == (1234, "/app")
    assert said["seen"]["MODE"] == "production"
    assert said["seen"]["API_KEY"] == "hunter2hunter2"
    logs = folder / "logs"
    kept = [each for each in folder.rglob("*") if each.is_file() and logs not in each.parents]
    assert not [each for each in kept if b"hunter2" in each.read_bytes()]
    assert (tmp_path / "data" / "notes").read_text() == "mine\n"


@pytest.mark.environments
@pytest.mark.skipif(not (SHOP / "node_modules").exists(), reason="make setup-test")
def test_the_shop_of_node_as_a_compose_file(tierlab: Start, tmp_path: Path) -> None:
    with compose_shop(tmp_path):
        checked = tierlab("check", "e.toml", "--seconds", "1").end()
        assert checked.status == 0, checked.stdout + checked.stderr
        assert "assumed  users call shop-front, at port 3000." in checked.stdout
        assert "assumed  shop-front calls database, since it depends on it." in checked.stdout
        before = host()
        command = tierlab("run", "e.toml")
        ended = command.end()
        assert ended.status == 0, ended.stderr
        check_nothing_left(command, tmp_path, before)
    assert not podman("images", "--quiet", f"--filter=reference={PREFIX}-*")
    folder = tmp_path / "runs" / "t" / "001"
    run = api.open(folder)
    servers = {"shopfront.1", "database.1", "cache.1"}
    assert set(run.visits.server.execute()) == servers
    assert {(call.caller, call.callee) for call in run.manifest.calls or ()} == {
        ("shopfront.1", "database.1"),
        ("shopfront.1", "cache.1"),
    }
    assert not run.requests.error.execute().dropna().ne("cut").any()
    assert servers <= set(run.process.subject.execute())
    files = [each for each in folder.rglob("*") if each.is_file()]
    assert not [each for each in files if SECRET.encode() in each.read_bytes()]


@pytest.mark.environments
def test_an_archive_s_image_is_killed_and_cleaned(tierlab: Start, tmp_path: Path) -> None:
    (tmp_path / "main.js").write_text(PROGRAM)
    program = {"/app/main.js": tmp_path / "main.js"}
    with made_image(
        "kept", tmp_path / "image", programs=["node"], trees=program, lines=LINES
    ) as it:
        podman("save", "--quiet", "--format=oci-archive", f"--output={tmp_path}/node.tar", it)
    web = 'web = { image = "node.tar", command = "node main.js x", volumes = ["./data:/data"] }'
    (tmp_path / "data").mkdir()
    (tmp_path / "data").chmod(0o777)
    (tmp_path / "e.toml").write_text((EXPERIMENT % web).replace('"1s"', '"60s"'))
    before = host()
    command = tierlab("run", "e.toml")
    trial = f"tierlab-{traces_of(command, tmp_path).trial}"
    answered = Path("/var/tmp", trial, "web.1", "logs", "console.log")
    deadline = time.monotonic() + 60
    while not (answered.exists() and answered.read_text()) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert answered.read_text(), command.end().stderr
    os.kill(command.process.pid, signal.SIGKILL)
    command.end()
    check_clean_clears(command, tierlab, tmp_path, before)
    assert not list((tmp_path / "data").iterdir())
