"""Secrets and configs of a compose file are on this machine only while a trial uses them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.command import Command, Start
from tests.conftest import host
from tests.environments.obstacle import obstacle
from tests.own.made_images import made_image
from tests.trial.left import check_clean_clears, check_nothing_left
from tierlab.environments.contents import FileContent, write

PROGRAM = """\
const fs = require('fs'), http = require('http');
const read = (path) => fs.readFileSync(path, 'utf8');
console.log(read('/run/secrets/token') + read('/etc/site'));
http.createServer((request, reply) => reply.end('page')).listen(8080);
"""
COMPOSE = """\
services:
  web:
    image: {image}
    command: node main.js
    ports: ["80:8080"]
    secrets: [token]
    configs: [{{ source: site, target: /etc/site }}]
secrets: {{ token: {{ environment: SHOP_TOKEN }} }}
configs: {{ site: {{ content: "of the site" }} }}
"""
EXPERIMENT = """\
[experiment]
name = "t"
[system]
workload = "own"
environment = "podman"
compose = "compose.yml"
sessions = {{ start = "/" }}
[load]
users = 1
think = "100ms"
phases = {{ ramp_up = "0s", runtime = "{runtime}s", ramp_down = "0s" }}
"""
SECRET = "hunter2-of-the-token"

Run = Callable[[int], Command]

TOO_LARGE = """
from pathlib import Path
from tierlab.environments.contents import FileContent, write
from tierlab.errors import UserError

try:
    write(FileContent("x" * 100_000, 0o400, is_secret=True), Path("/run/token"))
except UserError as error:
    print(error)
print([str(path) for path in Path("/run").iterdir()])
"""


def test_a_content_is_a_file_with_its_rights(tmp_path: Path) -> None:
    path = write(FileContent("a\r\n", 0o440, is_secret=True), tmp_path / "file")
    assert path.read_bytes() == b"a\r\n"
    assert path.stat().st_mode & 0o777 == 0o440


@pytest.mark.privileged
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_a_content_that_finds_no_room_is_a_sentence_and_leaves_no_part_of_it() -> None:
    mount = 'mount -t tmpfs -o size=16k tmpfs /run && exec "$@"'
    prefix = ("unshare", "--mount", "--propagation", "private", "sh", "-c", mount, "sh")
    done = subprocess.run(
        [*prefix, sys.executable, "-c", TOO_LARGE], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == [
        "/run/token: cannot write the content of a config or a secret (No space left on device);"
        " make room there.",
        "[]",
    ]


@pytest.fixture
def run(tierlab: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    """Start a trial with a secret and a config; its argument is how many seconds it lasts."""
    monkeypatch.setenv("SHOP_TOKEN", SECRET)
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    (tmp_path / "main.js").write_text(PROGRAM)
    trees = {"/app/main.js": tmp_path / "main.js"}
    lines = ("WORKDIR /app",)
    with made_image(
        "inline", tmp_path / "image", programs=["node"], trees=trees, lines=lines
    ) as image:
        (tmp_path / "compose.yml").write_text(COMPOSE.format(image=image))

        def started(runtime: int) -> Command:
            (tmp_path / "e.toml").write_text(EXPERIMENT.format(runtime=runtime))
            return tierlab("run", "e.toml")

        yield started


def secrets(command: Command) -> list[Path]:
    return list(Path("/run").glob(f"tierlab-t-001-{command.process.pid}-*"))


@pytest.mark.slow
@pytest.mark.privileged
@pytest.mark.environments
@pytest.mark.skipif((reason := obstacle("podman")) is not None, reason=f"needs podman: {reason}")
def test_the_end_of_a_trial_removes_its_secrets_and_configs(run: Run, tmp_path: Path) -> None:
    before = host()
    command = run(1)
    command.wait_for("runtime")
    (folder,) = secrets(command)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert [path.read_text() for path in folder.iterdir()] == [SECRET]
    ended = command.end()
    assert ended.status == 0, ended.stderr
    assert secrets(command) == []
    check_nothing_left(command, tmp_path, before)
    run_folder = tmp_path / "runs" / "t" / "001"
    said = (run_folder / "logs/web.1/logs/console.log").read_text()
    assert said == f"{SECRET}of the site\n"
    logs = run_folder / "logs"
    kept = [each for each in run_folder.rglob("*") if each.is_file() and logs not in each.parents]
    assert not [each for each in kept if SECRET.encode() in each.read_bytes()]


@pytest.mark.slow
@pytest.mark.privileged
@pytest.mark.environments
@pytest.mark.skipif((reason := obstacle("podman")) is not None, reason=f"needs podman: {reason}")
def test_clean_removes_the_secrets_and_configs_of_a_killed_trial(
    run: Run, tierlab: Start, tmp_path: Path
) -> None:
    before = host()
    command = run(60)
    command.wait_for("runtime")
    assert secrets(command)
    command.kill()
    check_clean_clears(command, tierlab, tmp_path, before)
    assert secrets(command) == []
