"""What cannot be watched is said not to be measured, and has no table."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import IO

import pytest

from tierlab.observe.observers import Observers
from tierlab.tables.manifest import Manifest
from tierlab.trial.outcome import record_observers

AGENT = """#!/bin/sh
out=$5
if [ "$1" = capture ]; then
  : > "$out/raw_visits.arrows"
  echo "tierlab-agent: packet capture needs CAP_NET_RAW" >&2
  exit 1
fi
: > "$out/cpu.arrows"
echo '{"ready":true}'
trap 'echo "{\\"summary\\":{\\"cpu_ns\\":1}}"; exit 0' INT
while :; do sleep 0.01; done
"""


class Child:
    """A process of the fake agent."""

    def __init__(self, argv: Sequence[str], log: Path) -> None:
        with log.open("ab") as errors:
            self._popen = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=errors)

    @property
    def stdout(self) -> IO[bytes] | None:
        return self._popen.stdout

    def poll(self) -> int | None:
        return self._popen.poll()

    def wait(self, timeout: float) -> int | None:
        return self._popen.wait(timeout)

    def stop(self, grace: float, first: signal.Signals = signal.SIGTERM) -> bool:
        if self.poll() is None:
            self._popen.send_signal(first)
        self._popen.wait(grace)
        return True


def test_tables_that_were_only_begun_are_not_left_as_empty_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "tierlab-agent"
    script.write_text(AGENT)
    script.chmod(0o755)
    monkeypatch.setenv("TIERLAB_AGENT", str(script))
    streams, logs = tmp_path / "streams", tmp_path / "logs"
    streams.mkdir()
    logs.mkdir()
    observers = Observers(streams, logs, Child)
    observers.start("sample", {}, ("cpu",))
    observers.start("capture", {}, ("visits",))
    observers.check()
    observers.stop()
    assert [path.name for path in streams.iterdir()] == ["cpu.arrows"]
    assert list(observers.not_measured) == ["visits"]
    assert "packet capture needs CAP_NET_RAW" in observers.not_measured["visits"]
    assert observers.summaries == {"sample": {"cpu_ns": 1}}


@pytest.mark.parametrize(
    ("summary", "said"),
    [
        ({"packets": 950, "drops": 50, "crowded_out": 0}, "50 packets (5.00%) were lost"),
        ({"packets": 9, "drops": 0, "crowded_out": 3}, "3 connections were forgotten"),
        ({"packets": 9, "interface_downs": 1}, "the captured interface went down once"),
        ({"packets": 9, "interface_downs": 3}, "the captured interface went down 3 times"),
        ({"packets": 9, "drops": 0, "crowded_out": 0, "interface_downs": 0}, None),
        ({"packets": 9}, None),
    ],
)
def test_what_the_capture_lost_is_said(summary: dict[str, int], said: str | None) -> None:
    """Only a row among the events told of it, and visits were missing without a word."""
    manifest = Manifest(
        experiment="x", trial="001", environment="native", workload="static", created_ns=0
    )
    observers = Observers(Path(), Path(), Child)
    observers.summaries["capture"] = summary
    record_observers(manifest, observers)
    found = manifest.not_measured.get("visits (some)")
    assert (found is None) == (said is None)
    assert said is None or said in str(found)
