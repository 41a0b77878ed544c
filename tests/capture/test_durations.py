"""How long `capture` and `calls` go on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tierlab.observe.agent import binary

pytestmark = [
    pytest.mark.privileged,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root"),
]

LONGEST_NS = 2**63 - 1
NOBODY = {"name": "web.1", "address": "127.77.0.1", "port": 9, "protocol": "http1"}


@pytest.mark.parametrize(
    ("verb", "plan"), [("capture", {"interface": "lo", "servers": [NOBODY]}), ("calls", {})]
)
def test_a_duration_that_is_longer_than_time_goes_on_does_not_end_it(
    verb: str, plan: dict[str, Any], tmp_path: Path
) -> None:
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(plan | {"duration_ns": LONGEST_NS}))
    command = [binary(), verb, "--plan", str(path), "--out", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert json.loads(process.stdout.readline()) == {"ready": True}
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.5)
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=10)
    assert process.returncode == 0
    assert "summary" in json.loads(said.splitlines()[-1])
