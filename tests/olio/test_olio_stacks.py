"""A stack serves Olio natively, from the home page to a photo that is stored and read back."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from http.client import HTTPConnection
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image

from tests.figures import figure
from tests.pace import pace
from tierlab import experiment
from tierlab.deploy.system import System
from tierlab.environments.ledger import Ledger
from tierlab.environments.native.native import Native
from tierlab.servers.endpoint import Endpoint
from tierlab.workloads.olio import pictures
from tierlab.workloads.workload import DataKey

from .browser import Browser
from .test_olio_writes import PERSON

pytestmark = [
    pytest.mark.environments,
    pytest.mark.slow,
    pytest.mark.privileged,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root"),
]
UP_SECONDS = 60.0
SYSTEM = {"workload": "olio", "web": {"server": "httpd"}, "cache": {"count": 2}}
"""With MariaDB; nginx and PostgreSQL are driven in `tests/trial/test_olio_trial.py`."""
ID = "beefbeef00000001"
DATA = DataKey(0.02, 1, date(2026, 11, 20))


@dataclass
class Visitor(Browser):
    """A browser in the trial's network."""

    native: Native | None = None
    web: Endpoint | None = None

    def connection(self) -> HTTPConnection:
        assert self.native is not None
        assert self.web is not None
        connection = HTTPConnection(str(self.web))
        connection.sock = self.native.connect(self.web.address, self.web.port, timeout=30)
        return connection


@pytest.fixture
def native(
    trial: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    traces: object,  # noqa: ARG001 - checked last
) -> Iterator[Native]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    made = Native(Ledger(trial))
    yield made
    made.destroy()


@pytest.fixture
def system(native: Native, tmp_path: Path) -> Iterator[System]:
    shape = experiment.System.of(SYSTEM)
    content = shape.application.content(native, DATA, shape.fidelity)
    made = System(shape, content, native, tmp_path / "logs")
    yield made
    made.stop()


def test_a_stack_serves_pages_and_keeps_what_is_uploaded(
    system: System, native: Native, tmp_path: Path
) -> None:
    began = time.monotonic()
    system.start(lambda _step: None)
    took = time.monotonic() - began
    figure(f"up in {took:.1f} s, its data made with it where they were not kept")
    assert took < UP_SECONDS * pace()
    web = next(place.endpoint for place in system.places if place.tier == "web")
    visitor = Visitor(0, {"X-Request-Id": ID}, native=native, web=web)
    assert len(visitor.get("index").pictures) == 10
    style = visitor.open("GET", "/olio/css/site.css")
    assert (style.status, style.kind) == (200, "text/css")
    photo = ("me.jpg", (pictures.folder() / "person.jpg").read_bytes())
    stored = visitor.upload(
        "addPersonResult", PERSON | {"add_user_name": "ann"}, {"user_image": photo}
    )
    assert stored.status == 303, stored.text
    (name,) = visitor.get("users", username="ann").pictures
    assert visitor.get("fileService", file=name).body == photo[1]
    thumbnail = visitor.get("fileService", file=name.replace(".", "t."))
    with Image.open(BytesIO(thumbnail.body)) as small:
        assert small.size == (120, 90)
    assert visitor.post("login", user_name="ann", password="secret").status == 303
    assert "Log out" in visitor.get("index").text
    system.check()
    system.stop()
    for name in ("web.1", "app.1", "geocoder.1"):
        assert ID in (tmp_path / "logs" / name / "logs" / "access.log").read_text(), name
