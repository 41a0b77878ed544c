"""What is said of a system after one user went through it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.diagnosis import made_stall
from tierlab.analysis.checked import checked
from tierlab.analysis.checked_calls import CheckedCalls
from tierlab.tables.manifest import Manifest, Observation, ServerPart


def found(folder: Path, error: str, sent_off: str | None) -> str:
    """What is said of a page that failed so."""
    row = {"interaction": "/", "start_ns": 1, "end_ns": 2, "error": error}
    made_stall.write(folder, "requests", [row])
    summary = {"sent_off": {} if sent_off is None else {"/": sent_off}}
    manifest = Manifest(
        experiment="e",
        trial="001",
        environment="native",
        workload="own",
        created_ns=1,
        observation=Observation(summaries={"drive": summary}),
    )
    (only,) = checked(folder, manifest, CheckedCalls())
    assert only.works is False
    return only.sentence


@pytest.mark.parametrize(
    ("error", "sent_off", "said"),
    [
        ("status_404", None, "/: none of 1 worked: the reply has status 404."),
        ("status_302", None, "/: none of 1 worked: the reply has status 302."),
        (
            "status_301",
            "https://127.0.1.1:8000",
            "and sends users to https://127.0.1.1:8000, which is off the site: they speak no TLS;"
            " have the application not redirect to HTTPS.",
        ),
        (
            "status_308",
            "http://shop.example",
            "and sends users to http://shop.example, which is off the site; say"
            ' host = "shop.example" in the first server\'s table if that is its name.',
        ),
    ],
)
def test_a_page_that_sends_users_off_the_site_says_where_to(
    tmp_path: Path, error: str, sent_off: str | None, said: str
) -> None:
    assert found(tmp_path, error, sent_off).endswith(said)


def test_a_server_at_a_socket_is_up_and_not_blamed_for_requests_that_nobody_saw(
    tmp_path: Path,
) -> None:
    """Its visits are seen only by tracing system calls."""
    made_stall.write(tmp_path, "visits", [{"server": "db.1", "arrival_ns": 1}])
    part: dict[str, Any] = {"tier": "app", "server": "command", "address": "127.0.0.1"}
    servers = {
        "app.1": ServerPart(port=0, socket="/run/app.sock", protocol="fcgi", **part),
        "db.1": ServerPart(port=3306, socket="/run/db.sock", protocol="mysql", **part),
    }
    not_measured = {"visits of app.1": "x", "visits of db.1 at /run/db.sock": "x"}
    manifest = Manifest.model_construct(servers=servers, not_measured=not_measured, calls=[])
    said = checked(tmp_path, manifest, CheckedCalls())[:2]
    assert [(each.works, each.sentence) for each in said] == [
        (
            None,
            "app.1 (command) is up at /run/app.sock; requests at this UNIX socket are not seen.",
        ),
        (
            None,
            "db.1 (command) is up at 127.0.0.1:3306 and /run/db.sock; requests at this UNIX socket"
            " are not seen.",
        ),
    ]
    manifest.not_measured = {}
    (first, second, *_) = checked(tmp_path, manifest, CheckedCalls())
    assert (first.works, second.works) == (False, True), "where they are seen, none is a fault"


def test_a_page_whose_picture_is_not_there_says_which(tmp_path: Path) -> None:
    visits = [
        {"label": label, "status": status, "visit": number}
        for number, (label, status) in enumerate(
            [("GET /", 200), ("GET /logo.png", 404), ("GET /logo.png", 404), ("GET /b.png", 404)]
        )
    ]
    made_stall.write(tmp_path, "visits", visits)
    assert found(tmp_path, "image_status_404", None) == (
        "/: none of 1 worked: a picture on it (GET /logo.png) failed: the reply has status 404."
    )


def test_a_picture_that_no_visit_tells_of_is_said_in_words(tmp_path: Path) -> None:
    assert found(tmp_path, "static_no_reply", None) == (
        "/: none of 1 worked: a style, script or font of it failed: the connection was closed"
        " without a reply."
    )
