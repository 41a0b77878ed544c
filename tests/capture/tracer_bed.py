"""The four tiers, traced: the agent's capture beside tcpdump, and what each of them saw."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.ipc
from four_tiers import SERVERS, WEB, FourTiers

from tierlab.observe.agent import binary

SCALE = 0.0005
ROOT = Path(__file__).resolve().parents[2]
CONNECTOR = next((ROOT / "apps/rubbos/target/lib").glob("mariadb-java-client-*.jar"), Path("none"))

FORM = "nickname=user1&password=password1&storyId=5&parent=0&comment_table=comments"
PAGES: tuple[tuple[str, str, str | None], ...] = (
    ("GET", "/rubbos/browse.html", None),
    ("HEAD", "/rubbos/browse.html", None),
    ("GET", "/rubbos/nothing-here", None),
    ("GET", "/rubbos/servlet/StoriesOfTheDay", None),
    ("GET", "/rubbos/servlet/BrowseCategories", None),
    ("GET", "/rubbos/servlet/BrowseStoriesByCategory?category=1&categoryName=a", None),
    ("GET", "/rubbos/servlet/ViewStory?storyId=5", None),
    ("GET", "/rubbos/servlet/Search?search=a&type=0&page=0&nbOfStories=25", None),
    ("GET", "/rubbos/servlet/SubmitStory", None),
    ("POST", "/rubbos/servlet/StoreComment", f"{FORM}&subject=s&body=b"),
    ("POST", "/rubbos/servlet/StoreComment", f"{FORM}&subject=s&body={'long+' * 4000}"),
) * 10
"""Static and dynamic, missing, without content, and forms that take one AJP packet or several."""


def table(path: Path) -> pa.Table:
    """Read an Arrow stream of the agent."""
    with path.open("rb") as file:
        return pyarrow.ipc.open_stream(file).read_all()


def messages(folder: Path) -> list[dict[str, Any]]:
    """Read what the agent wrote with ``messages``."""
    return [json.loads(line) for line in (folder / "messages.jsonl").read_text().splitlines()]


def dissect(
    capture: Path,
    out: Path,
    threads: int = 1,
    servers: Sequence[Mapping[str, Any]] = SERVERS,
) -> dict[str, Any]:
    """Dissect a capture file into ``out``; returns the agent's summary."""
    out.mkdir()
    plan = {"file": str(capture), "servers": servers, "messages": True, "threads": threads}
    (out / "plan.json").write_text(json.dumps(plan))
    command = [binary(), "dissect", "--plan", str(out / "plan.json"), "--out", str(out)]
    said = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert said.returncode == 0, said.stderr
    return dict(json.loads(said.stdout.splitlines()[-1])["summary"])


@dataclass(frozen=True)
class Traced:
    """What one live capture wrote, and said at its end."""

    folder: Path
    summary: dict[str, Any]


class Bed(FourTiers):
    """The four tiers, and tracers beside them."""

    def __init__(self, folder: Path) -> None:
        super().__init__(f"tierlab-test-capture-{os.getpid()}", SCALE, folder)
        self._load: Path | None = None

    def start_under_load(self) -> None:
        """Bring the tiers up, from the first packet on in the capture that `load` returns."""
        with self.dumped("load") as path:
            self.start()
            self.browse(list(PAGES))
            self.browse(list(PAGES), close=True)
            program = Path(__file__).with_name("Statements.java")
            password = self.system.credentials.password
            # Its performance data would be a folder in /tmp, and what another trial left.
            short_lived = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData")
            self.run(["java", *short_lived, "-cp", str(CONNECTOR), str(program), password])
        self._load = path

    def load(self) -> Path:
        """Everything that was said while the tiers came up and a mixed load was on them."""
        assert self._load is not None
        return self._load

    @contextmanager
    def traced(self, name: str, threads: int = 1) -> Iterator[Traced]:
        """Capture live while the block runs; the summary is filled in at its end."""
        with self.capturing(name, messages=True, threads=threads) as summary:
            yield Traced(self.folder / name, summary)
            time.sleep(0.3)

    def browse(self, requests: Sequence[tuple[str, str, str | None]], close: bool = False) -> None:
        """Send requests (method, target, form) on one connection, or each on its own."""
        connection: http.client.HTTPConnection | None = None
        for number, (method, target, form) in enumerate(requests):
            if connection is None:
                connection = http.client.HTTPConnection(*WEB)
                connection.sock = self.native.connect(*WEB, timeout=30)
            headers = {"X-Request-Id": f"{number:016x}"}
            if form is not None:
                headers["Content-Type"] = "application/x-www-form-urlencoded"
            connection.request(method, target, form, headers)
            answer = connection.getresponse()
            answer.read()
            assert answer.status < 500, (target, answer.status)
            if close or answer.will_close:
                connection.close()
                connection = None
        if connection is not None:
            connection.close()
