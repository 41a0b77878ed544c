"""Applications of others as a user brings them: from a recording of Chromium, npm and Debian."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

import tierlab as api
from tests.command import Start
from tests.conftest import host
from tests.environments.obstacle import obstacle
from tests.own import database_admin, wiki
from tests.own.conftest import FOLDER, SHOP
from tests.own.made_har import PORT, running_shop
from tests.own.recorder import Recorder, recording
from tests.own.shop import PASSWORD
from tests.trial.left import check_nothing_left

pytestmark = [
    pytest.mark.slow,
    pytest.mark.privileged,
    pytest.mark.environments,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root"),
]

TEN_LINES = f"""\
[experiment]
name = "t"
[system]
workload = "own"
web = {{ command = "{SHOP}", folder = "{FOLDER}", port = 8000 }}
sessions = {{ har = "visit.har" }}
[load]
users = 20
phases = {{ ramp_up = "1s", runtime = "5s", ramp_down = "0s" }}
"""
MOST_SECONDS = 300
NODE = FOLDER.parents[1] / "apps" / "shop"
NODE_SHOP = f"""
[experiment]
name = "t"
[system]
workload = "own"
sessions = {{ start = "/", pages = ["/products/*", "/categories/*"] }}
[system.web]
command = "node main.js"
folder = "{NODE}"
port = 3000
ready = "/health"
environment.PGHOST = "{{db.address}}"
environment.PGUSER = "{{db.user}}"
environment.PGPASSWORD = "{{db.password}}"
environment.PGDATABASE = "{{db.database}}"
environment.REDIS_URL = "redis://{{cache}}"
environment.PRODUCTS = "200"
[system.db]
server = "postgresql"
[system.cache]
server = "redis"
[load]
users = 5
think = "200ms"
phases = {{ ramp_up = "0s", runtime = "2s", ramp_down = "0s" }}
[observe]
calls = true
"""
WIKI = """
[experiment]
name = "t"
[system]
workload = "own"
web = { command = "php -S {address}:{port} -t .", folder = "wiki", port = 8000 }
[system.sessions]
start = ["/doku.php?id=start", "/doku.php?id=shop"]
avoid = ["do=", "feed.php"]
expect = { "*" = "Tierlab" }
[load]
users = 1
"""

ADMIN = """
[experiment]
name = "t"
[system]
workload = "own"
[system.web]
command = "php -d session.save_path={folder}/tmp -S {address}:{port} -t ."
folder = "admin"
port = 8000
environment.DB_HOST = "{db.address}"
environment.DB_PORT = "{db.port}"
environment.DB_USER = "{db.user}"
environment.DB_PASSWORD = "{db.password}"
[system.db]
server = "mariadb"
sql = "shop.sql"
[system.sessions]
start = "/index.php?route=/database/structure&db=own"
avoid = ["logout", "url.php", "doc/"]
[load]
users = 1
think = "100ms"
images = false
phases = { ramp_up = "0s", runtime = "3s", ramp_down = "0s" }
"""
TABLE = "CREATE TABLE thing (id INT PRIMARY KEY, name TEXT); INSERT INTO thing VALUES (1, 'a;b');"


def test_from_a_recording_of_chromium_s_to_a_report_in_ten_lines(
    tierlab: Start, tmp_path: Path
) -> None:
    assert len(TEN_LINES.splitlines()) <= 10
    began = time.monotonic()
    secrets = visit(tmp_path)
    (tmp_path / "e.toml").write_text(TEN_LINES)
    before = host()
    command = tierlab("run", "e.toml")
    ended = command.end()
    assert ended.status == 0, ended.stderr
    folder = tmp_path / "runs" / "t" / "001"
    assert (folder / "report.html").stat().st_size > 10_000
    assert time.monotonic() < began + MOST_SECONDS
    run = api.open(folder)
    requests = run.requests.execute()
    assert set(requests[requests.error.notna()].error) <= {"cut"}
    assert {"POST /login", "GET /items/{id}", "POST /api/basket", "POST /orders"} <= set(
        requests.interaction
    )
    texts = "".join(
        file.read_bytes().decode(errors="replace") for file in folder.rglob("*") if file.is_file()
    )
    assert [secret for secret in secrets if secret in texts] == []
    check_nothing_left(command, tmp_path, before)


def visit(place: Path) -> list[str]:
    """Record a visit in which somebody logs in and buys; what of it nobody is to know."""
    with running_shop(), recording(place / "profile", place / "visit.har") as recorder:
        browser = recorder.driver
        browser.get(f"http://127.0.0.1:{PORT}/")
        recorder.look()
        browser.find_element(By.NAME, "user").send_keys("alice")
        browser.find_element(By.NAME, "password").send_keys(PASSWORD)
        click(recorder, By.ID, "login", "Shop")
        browser.find_element(By.NAME, "q").send_keys("Thing 1")
        click(recorder, By.ID, "find", "Found")
        click(recorder, By.CLASS_NAME, "item", "Thing 1")
        token = browser.find_element(By.NAME, "csrf-token").get_attribute("content")
        click(recorder, By.ID, "put", "put 1")
        click(recorder, By.LINK_TEXT, "basket", "Basket")
        click(recorder, By.ID, "buy", "Order")
        sid = browser.get_cookie("sid")
    assert token is not None
    assert sid is not None
    return [PASSWORD, PASSWORD.replace(" ", "+"), token, str(sid["value"])]


def click(recorder: Recorder, by: str, what: str, title: str) -> None:
    recorder.driver.find_element(by, what).click()
    WebDriverWait(recorder.driver, 20).until(lambda browser: browser.title.startswith(title))
    recorder.look()


@pytest.mark.parametrize(
    ("environment", "calls"), [("native", "spoken of"), ("podman", "found")], ids=str
)
def test_a_service_of_node_on_postgresql_and_redis(
    environment: str, calls: str, tierlab: Start, tmp_path: Path
) -> None:
    if environment != "native" and (reason := obstacle(environment)) is not None:
        pytest.skip(reason)
    if not (NODE / "node_modules").exists():
        pytest.skip("the shop's libraries are not installed: make setup-test")
    found = calls == "found"
    text = NODE_SHOP.replace("port = 3000", 'port = 3000\ncalls = "found"') if found else NODE_SHOP
    (tmp_path / "e.toml").write_text(text)
    before = host()
    command = tierlab("run", "e.toml", "--environment", environment)
    ended = command.end()
    assert ended.status == 0, ended.stderr
    run = api.open(tmp_path / "runs" / "t" / "001")
    spoken = {("web.1", "db.1", "postgresql"), ("web.1", "cache.1", "redis")}
    declared = run.manifest.calls or ()
    assert {(call.caller, call.callee, call.protocol) for call in declared} == spoken
    assert all(call.found == found for call in declared)
    if found:
        assert "found: web.1 -> db.1 postgresql" in ended.stderr
    seen = run.manifest.seen or ()
    assert {(call.caller, call.callee, call.protocol) for call in seen if call.caller} == spoken
    assert set(run.visits.server.execute()) == {"web.1", "db.1", "cache.1"}
    assert not run.requests.error.execute().dropna().ne("cut").any()
    assert {"web.1", "db.1", "cache.1"} <= set(run.process.subject.execute())
    check_nothing_left(command, tmp_path, before)


@pytest.mark.skipif(not wiki.PROGRAM.exists(), reason="needs Debian's package dokuwiki")
def test_a_wiki_of_debian_s(tierlab: Start, tmp_path: Path) -> None:
    wiki.lay_down(tmp_path / "wiki")
    (tmp_path / "e.toml").write_text(WIKI)
    ended = tierlab("check", "e.toml", "--seconds", "1").end()
    assert ended.status == 0, ended.stdout + ended.stderr
    assert "works  another page: " in ended.stdout


@pytest.mark.skipif(not database_admin.PROGRAM.exists(), reason="needs Debian's phpmyadmin")
def test_debian_s_phpmyadmin_on_a_database_of_the_user_s(tierlab: Start, tmp_path: Path) -> None:
    database_admin.lay_down(tmp_path / "admin")
    (tmp_path / "shop.sql").write_text(TABLE)
    (tmp_path / "e.toml").write_text(ADMIN)
    ended = tierlab("run", "e.toml").end()
    assert ended.status == 0, ended.stderr
    run = api.open(tmp_path / "runs" / "t" / "001")
    first = run.requests.execute().iloc[0]
    assert first.status == 200
    assert not isinstance(first.error, str), first.error
    visits = run.visits.execute()
    assert visits[visits.server == "db.1"].label.str.startswith("SHOW").any()
    assert visits[visits.server == "db.1"].parent.notna().mean() > 0.5
