"""Two container images of which one calls the other at a UNIX socket, in a volume of both."""

from __future__ import annotations

from pathlib import Path

import pytest

import tierlab as api
from tests.command import Start
from tests.conftest import host
from tests.environments.obstacle import obstacle
from tests.own.made_images import made_image
from tests.trial.left import check_nothing_left

pytestmark = [
    pytest.mark.slow,
    pytest.mark.privileged,
    pytest.mark.environments,
    pytest.mark.skipif(
        (reason := obstacle("podman")) is not None, reason=f"needs podman: {reason}"
    ),
]

PROGRAM = """\
const http = require('http');
const page = '<a href="/other">other</a>', agent = new http.Agent({ keepAlive: true });
function answer(request, reply) {
  reply.setHeader('Content-Type', 'text/html');
  if (!process.env.BACK) return reply.end(page);
  http.get({ socketPath: process.env.BACK, path: '/', agent }, (got) =>
    got.resume().on('end', () => reply.end(page))
  ).on('error', (error) => reply.writeHead(502).end(String(error)));
}
http.createServer(answer).listen(process.env.SOCKET || 8080);
"""
EXPERIMENT = """\
[experiment]
name = "t"
[system]
workload = "own"
environment = "podman"
sessions = {{ start = "/" }}
[system.web]
image = "{image}"
port = 8080
ready = "/"
volumes = ["sockets:/run/others"]
environment.BACK = "/run/others/app.sock"
calls = ["app"]
[system.app]
image = "{image}"
socket = "/run/app/app.sock"
ready = "/"
volumes = ["sockets:/run/app"]
environment.SOCKET = "{{socket}}"
[load]
users = 1
think = "50ms"
phases = {{ ramp_up = "0s", runtime = "2s", ramp_down = "0s" }}
[observe]
calls = true
"""
LINES = ("WORKDIR /app", 'CMD ["node", "/app/main.js"]')


def test_a_socket_in_a_shared_volume_is_reached_and_known(tierlab: Start, tmp_path: Path) -> None:
    (tmp_path / "main.js").write_text(PROGRAM)
    program = {"/app/main.js": tmp_path / "main.js"}
    with made_image(
        "unix", tmp_path / "image", programs=["node"], trees=program, lines=LINES
    ) as image:
        (tmp_path / "e.toml").write_text(EXPERIMENT.format(image=image))
        before = host()
        command = tierlab("run", "e.toml")
        ended = command.end()
        assert ended.status == 0, ended.stderr
        check_nothing_left(command, tmp_path, before)
    run = api.open(tmp_path / "runs" / "t" / "001")
    assert not run.requests.error.execute().dropna().ne("cut").any()
    assert run.manifest.servers["app.1"].socket == "/run/app/app.sock"
    (seen,) = [each for each in run.manifest.seen if each.socket is not None]
    assert (seen.caller, seen.callee) == ("web.1", "app.1"), "by who accepted it"
    assert seen.socket == "/run/app/app.sock", "as it is bound, whatever its caller calls it"
