"""The WAR in a Tomcat that knows nothing of the application."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.web import PATIENCE_SECONDS
from tierlab.workloads.rubbos.shape import APPLICATION_JAR, APPLICATION_LIBRARIES, STATIC_PATHS

from .application import ADDRESS, SHORT_LIVED, Running
from .private_mariadb import PrivateMariaDB, free_port

pytestmark = pytest.mark.slow


def test_the_war_serves_pages_and_files(database: PrivateMariaDB, tmp_path: Path) -> None:
    tomcat = ":".join(map(str, APPLICATION_LIBRARIES.glob("tomcat-*.jar")))
    war = APPLICATION_JAR.with_name("rubbos-servlets.war")
    port = free_port()
    settings = {
        "jdbc.url": database.jdbc_url,
        "jdbc.user": "rubbos",
        "jdbc.password": "secret",
        "pool.size": "2",
    }
    command = [
        *("java", *SHORT_LIVED, "-cp", tomcat),
        *(f"-Drubbos.{key}={value}" for key, value in settings.items()),
        *(str(Path(__file__).with_name("WarHost.java")), str(port), str(war), str(tmp_path)),
    ]
    with (tmp_path / "log").open("w") as log:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
    try:
        assert process.stdout is not None
        assert process.stdout.readline(), (tmp_path / "log").read_text()
        app = Running(port, ADDRESS, process, tmp_path)
        assert len(app.get("StoriesOfTheDay").links_to("ViewStory")) == 10
        for path in STATIC_PATHS:
            status, body = app.fetch(path)
            assert status == 200
            assert body
    finally:
        process.terminate()
        process.wait(PATIENCE_SECONDS)
