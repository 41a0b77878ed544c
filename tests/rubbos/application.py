"""The application in its own Tomcat, for tests."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.web import PATIENCE_SECONDS, Site
from tierlab.workloads.rubbos.shape import APPLICATION_JAR, DOCUMENT_ROOT

PROJECT = Path(__file__).parents[2]
ADDRESS = "/rubbos/servlet/{}"
SHORT_LIVED = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData")
"""For a Java machine whose optimising compiler would cost more than it gains."""


@dataclass(frozen=True)
class Running(Site):
    process: subprocess.Popen[str]
    folder: Path


def java_command(folder: Path, settings: dict[str, object]) -> list[str]:
    folder.mkdir(parents=True, exist_ok=True)
    config = folder / "app.properties"
    config.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
    jar = str(APPLICATION_JAR)
    return ["java", *SHORT_LIVED, "-Xmx128m", f"-Drubbos.config={config}", "-jar", jar]


@contextmanager
def running(folder: Path, port: int, settings: dict[str, object]) -> Iterator[Running]:
    """The application with its HTTP connector on `port`, ready; ended by SIGTERM."""
    own: dict[str, object] = {
        "http.port": port,
        "work.dir": folder / "work",
        "static.dir": DOCUMENT_ROOT / "rubbos",
        "jdbc.user": "rubbos",
        "jdbc.password": "secret",
    }
    command = java_command(folder, own | settings)
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
    try:
        assert process.stdout is not None
        first = process.stdout.readline()
        assert first, (folder / "log").read_text()
        assert json.loads(first) == {"ready": True}
        yield Running(port, ADDRESS, process, folder)
    finally:
        process.terminate()
        process.wait(PATIENCE_SECONDS)
