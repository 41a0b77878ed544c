"""The application as a server: request ids, pool, access log, stop, and refusals to start."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from operator import itemgetter
from pathlib import Path

import pytest

from tests.pace import pace
from tests.web import PATIENCE_SECONDS

from .application import Running, java_command, running
from .conftest import Start
from .general_log import general_log
from .private_mariadb import PrivateMariaDB, free_port

pytestmark = pytest.mark.slow

AJP_PING = bytes.fromhex("123400010a")
AJP_PONG = bytes.fromhex("4142000109")


@contextmanager
def locked_categories(database: PrivateMariaDB) -> Iterator[None]:
    """Whoever reads the categories waits, its connection in hand."""
    with database.connect(database="rubbos") as connection, connection.cursor() as cursor:
        cursor.execute("LOCK TABLES categories WRITE")
        yield


def await_count(database: PrivateMariaDB, sql: str) -> None:
    """Until the count that the statement asks for is not 0."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not database.value(sql):
        assert time.monotonic() < deadline, f"still 0: {sql}"
        time.sleep(0.02)


def await_waiting(database: PrivateMariaDB) -> None:
    """Until a statement waits for the locked table."""
    await_count(
        database,
        "SELECT COUNT(*) FROM information_schema.processlist"
        " WHERE state LIKE 'Waiting for table metadata lock'",
    )


def test_every_statement_carries_its_requests_id(app: Running, database: PrivateMariaDB) -> None:
    comment = database.value("SELECT MIN(id) FROM comments")
    with general_log(database) as log:
        app.post(
            "StoreModeratorLog",
            "00000000DEADbeef",
            **{"nickname": "author1", "password": "password1", "rating": 1},
            **{"comment_table": "comments", "commentId": comment},
        )
        app.get("StoriesOfTheDay", "*/ DROP TABLE users; /*")
        statements = log.of_application()
    moderation = [text for text in statements if text.startswith("/*rid=00000000DEADbeef*/ ")]
    assert any("START TRANSACTION" in text for text in moderation)
    assert any("COMMIT" in text for text in moderation)
    assert any("'author1'" in text for text in moderation), "values are in the statement"
    (rest,) = [text for text in statements if text not in moderation]
    assert rest.startswith("SELECT s.id, s.title"), "a bad id is left out"


def test_requests_wait_for_the_one_connection(start: Start, database: PrivateMariaDB) -> None:
    app = start(pool_size=1)
    with ThreadPoolExecutor() as pool:
        with locked_categories(database):
            first = pool.submit(app.get, "BrowseCategories")
            await_waiting(database)
            second = pool.submit(app.get, "StoriesOfTheDay")
            time.sleep(0.5)
            assert app.get("Search").status == 200, "a page without statements takes no connection"
            assert not second.done()
        assert first.result().status == 200
        assert second.result().status == 200


@pytest.fixture(scope="module")
def impatient(
    database: PrivateMariaDB, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Running]:
    """With one connection, for which a request waits for 300 ms."""
    settings = {"jdbc.url": database.jdbc_url, "pool.size": 1, "pool.timeout.ms": 300}
    with running(tmp_path_factory.mktemp("impatient"), free_port(), settings) as app:
        yield app


def test_a_request_gives_up_waiting_with_an_error(
    impatient: Running, database: PrivateMariaDB
) -> None:
    app = impatient
    with ThreadPoolExecutor() as pool, locked_categories(database):
        pool.submit(app.get, "BrowseCategories")
        await_waiting(database)
        began = time.monotonic()
        page = app.get("StoriesOfTheDay")
        assert 0.3 <= time.monotonic() - began < 5 * pace()
    assert page.status == 500
    assert "ERROR" in page.text
    assert "Exception" not in page.source


def test_a_deadlock_is_tried_again(app: Running, database: PrivateMariaDB) -> None:
    """The application holds the comment and asks for the writer, the other one the reverse."""
    comment, writer = database.rows("SELECT id, writer FROM comments WHERE rating = 1 LIMIT 1")[0]
    connection = database.connect(database="rubbos")
    with ThreadPoolExecutor() as pool, connection, connection.cursor() as cursor:
        # Heavier than the application's: the server rolls back the lighter transaction.
        cursor.execute("SET SESSION innodb_lock_wait_timeout = 20")
        cursor.execute("BEGIN")
        cursor.execute("UPDATE users SET rating = rating WHERE id <> %s", (writer,))
        cursor.execute("UPDATE users SET email = CONCAT(email, '') WHERE id = %s", (writer,))
        cursor.execute("INSERT INTO moderator_log SELECT NULL, 0, 0, 0, NOW() FROM users")
        answer = pool.submit(
            app.post,
            "StoreModeratorLog",
            **{"nickname": "author1", "password": "password1", "rating": 1},
            **{"comment_table": "comments", "commentId": comment},
        )
        await_count(database, "SELECT COUNT(*) FROM information_schema.innodb_lock_waits")
        cursor.execute("UPDATE comments SET subject = subject WHERE id = %s", (comment,))
        cursor.execute("ROLLBACK")
        page = answer.result()
    assert page.status == 200
    assert "The comment is rated 2 now" in page.text
    assert database.value("SELECT rating FROM comments WHERE id = %s", comment) == 2


def test_of_two_users_with_one_name_the_second_is_told(
    app: Running, database: PrivateMariaDB
) -> None:
    """The name is still free when the application looks, and taken when it inserts."""
    other = database.connect(database="rubbos")
    with ThreadPoolExecutor() as pool, other, other.cursor() as cursor:
        cursor.execute("BEGIN")
        cursor.execute(
            "INSERT INTO users (firstname, lastname, nickname, password, email, rating, access,"
            " creation_date) VALUES ('a', 'b', 'wanted', 'c', 'd', 0, 0, UTC_TIMESTAMP())"
        )
        answer = pool.submit(
            app.post,
            "RegisterUser",
            **{"firstname": "f", "lastname": "l", "nickname": "wanted"},
            **{"email": "e", "password": "p"},
        )
        await_count(database, "SELECT COUNT(*) FROM information_schema.innodb_lock_waits")
        cursor.execute("COMMIT")
        page = answer.result()
    assert page.status == 200
    assert "Sorry, that nickname is taken" in page.text


def test_a_failing_statement_is_an_error_page_and_a_line_in_the_log(
    impatient: Running, database: PrivateMariaDB
) -> None:
    app = impatient
    database.rows("RENAME TABLE categories TO hidden")
    try:
        page = app.get("BrowseCategories")
    finally:
        database.rows("RENAME TABLE hidden TO categories")
    assert page.status == 500
    assert "ERROR" in page.text
    assert "hidden" not in page.source
    log = (app.folder / "log").read_text()
    assert "Categories failed" in log
    assert "categories' doesn't exist" in log
    assert "at org.tierlab" not in log
    assert app.get("BrowseCategories").status == 200


def test_the_access_log_has_a_line_for_every_request(start: Start, tmp_path: Path) -> None:
    log = tmp_path / "logs" / "access.log"
    app = start(access_log=log)
    for number in range(20):
        app.get("Search", f"{number:016x}")
    app.get("ViewStory", "ff", storyId="x")
    app.fetch("/rubbos/servlet/NoSuchPage")
    app.process.send_signal(signal.SIGTERM)
    app.process.wait(PATIENCE_SECONDS)
    # A line is written after its reply: the next request's may come before it.
    lines = sorted((line.split(" ", 5) for line in log.read_text().splitlines()), key=itemgetter(1))
    assert [line[1] for line in lines] == ["-", *(f"{n:016x}" for n in range(20)), "ff"]
    assert [line[2] for line in lines] == ["404"] + ["200"] * 20 + ["400"]
    for begin, _, _, duration, size, request in lines:
        assert abs(int(begin) / 1000 - time.time()) < 60
        assert 0 < int(duration) < 5_000_000, "microseconds"
        assert int(size) > 0
        assert re.fullmatch(r'"GET /rubbos/\S+ HTTP/1\.1"', request)


def test_a_stop_lets_the_request_in_progress_end(start: Start, database: PrivateMariaDB) -> None:
    app = start(pool_size=2)
    with ThreadPoolExecutor() as pool:
        with locked_categories(database):
            answer = pool.submit(app.get, "BrowseCategories")
            await_waiting(database)
            app.process.send_signal(signal.SIGTERM)
            time.sleep(0.5)
            assert app.process.poll() is None
        assert answer.result().status == 200
    assert app.process.wait(PATIENCE_SECONDS) == 128 + signal.SIGTERM
    with pytest.raises(ConnectionRefusedError):
        app.get("Search")


def test_an_idle_gateways_connection_does_not_hold_up_the_stop(start: Start) -> None:
    port = free_port()
    app = start(ajp_port=port, ajp_secret="s")
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_SECONDS) as gateway:
        gateway.sendall(AJP_PING)
        assert gateway.recv(16) == AJP_PONG
        began = time.monotonic()
        app.process.send_signal(signal.SIGTERM)
        app.process.wait(PATIENCE_SECONDS)
        took = time.monotonic() - began
        assert took < 5 * pace(), "as long as it waits for requests in progress"


def refusal(folder: Path, **settings: object) -> str:
    named = {key.replace("_", "."): value for key, value in settings.items()}
    done = subprocess.run(
        java_command(folder, {"work.dir": folder / "work"} | named),
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert done.returncode == 1
    assert "ready" not in done.stdout
    sentence = done.stderr.splitlines()[-1]
    assert "Exception" not in sentence
    return sentence


def test_what_cannot_start_says_why(database: PrivateMariaDB, tmp_path: Path) -> None:
    login = {"jdbc_url": database.jdbc_url, "jdbc_user": "rubbos", "jdbc_password": "secret"}
    assert "neither ajp.port nor http.port is set" in refusal(tmp_path)
    assert 'unknown setting "prot"' in refusal(tmp_path, prot=1)
    assert 'http.port is "x"' in refusal(tmp_path, http_port="x")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert "Address already in use" in refusal(tmp_path, http_port=port, **login)
    wrong = login | {"jdbc_password": "wrong"}
    sentence = refusal(tmp_path, http_port=free_port(), **wrong)
    assert "cannot connect to the database" in sentence
    assert "Access denied" in sentence
    nobody = login | {"jdbc_url": f"jdbc:mariadb://127.0.0.1:{free_port()}/rubbos"}
    sentence = refusal(tmp_path, http_port=free_port(), **nobody, **{"pool_timeout_ms": 1000})
    assert "cannot connect to the database" in sentence
