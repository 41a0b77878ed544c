"""What Node.js loads before an application, with a real Node.js."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import tierlab.servers.nodejs as declared
from tierlab.errors import UserError
from tierlab.experiment import Experiment
from tierlab.servers.application import Pages
from tierlab.servers.base import Settings
from tierlab.servers.content import Content
from tierlab.servers.database import Credentials
from tierlab.servers.endpoint import Endpoint
from tierlab.servers.nodejs import NodeJs, NodeOptions
from tierlab.servers.stop_log import stops
from tierlab.values.quantities import MIB

HELD_MS = 200
PROGRAM = f"""
setTimeout(() => {{
  const until = Date.now() + {HELD_MS};
  while (Date.now() < until) {{}}
  const kept = [];
  for (let round = 0; round < 200; round += 1) kept.push(new Array(20000).fill(round));
  setTimeout(() => process.exit(kept.length === 200 ? 0 : 1), 100);
}}, 100);
"""


def test_a_thread_that_is_held_and_collections_are_logged(tmp_path: Path) -> None:
    if shutil.which("node") is None:
        pytest.skip("there is no Node.js")
    log = tmp_path / "stops.log"
    preload = Path(declared.__file__).with_name("nodejs_preload.cjs")
    began_ns = time.time_ns()
    subprocess.run(
        ["node", f"--require={preload}", "--eval", PROGRAM],
        env={**os.environ, "TIERLAB_STOP_LOG": str(log)},
        check=True,
        timeout=60,
    )
    ended_ns = time.time_ns()
    found = list(stops(log.read_text().splitlines(keepends=True)))
    assert all(began_ns - 1e6 < it.start_ns < ended_ns for it in found), found
    held = [it for it in found if it.kind == "loop"]
    assert held
    # It is told from when the timer was due, which may be up to 20 ms after the thread was taken.
    assert max(it.duration_ns for it in held) >= (HELD_MS - 25) * 1_000_000
    assert {it.kind for it in found} == {"loop", "gc"}


def variables(folder: Path, environment: dict[str, str]) -> dict[str, str]:
    site: Any = SimpleNamespace(
        folder=folder,
        endpoint=Endpoint("127.0.0.1", 8080, "http"),
        tiers={},
        subject="web.1",
    )
    options = NodeOptions.model_construct(environment=environment, heap=64 * MIB)
    content = Content(Pages(folder, "/"), None, Credentials("it", "secret", "it"))
    return NodeJs(site, Settings({"threads": 2, "pool": 3}, options), content).variables()


def test_options_of_the_user_s_are_added_to_tierlab_s(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = f"--require={tmp_path}/preload.cjs --max-old-space-size=64"
    assert variables(tmp_path, {})["NODE_OPTIONS"] == ours
    told = variables(tmp_path, {"NODE_OPTIONS": "--enable-source-maps", "PORT": "1"})
    assert told["NODE_OPTIONS"] == f"{ours} --enable-source-maps"
    assert (told["UV_THREADPOOL_SIZE"], told["PORT"]) == ("2", "1")
    monkeypatch.setenv("MINE", "--inspect")
    assert variables(tmp_path, {"NODE_OPTIONS": "$MINE"})["NODE_OPTIONS"] == f"{ours} --inspect"


def test_limits_that_have_keys_are_refused_among_variables() -> None:
    web = {"server": "nodejs", "command": "sh", "port": 8000}
    web["environment"] = {
        "NODE_OPTIONS": "--trace-gc --max_old_space_size=4096",
        "UV_THREADPOOL_SIZE": "64",
    }
    tables: dict[str, Any] = {
        "experiment": {"name": "e"},
        "system": {"workload": "own", "web": web, "sessions": {"start": "/"}},
        "load": {"users": 1},
    }
    with pytest.raises(UserError) as raised:
        Experiment.from_tables(tables, "my.toml")
    assert str(raised.value).splitlines()[1:] == [
        "  system.web.environment.NODE_OPTIONS has --max_old_space_size; say heap instead.",
        "  system.web.environment.UV_THREADPOOL_SIZE is said by soft.threads; remove it.",
    ]
    web["environment"] = {"NODE_OPTIONS": "--trace-gc", "UV_THREADPOOL_SIZE": "{threads}"}
    Experiment.from_tables(tables, "my.toml")
