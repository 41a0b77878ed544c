"""`tierlab init`: an option that says nothing of the file to write is refused."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.environments.preforked import preforked
from tierlab.cli.main import app
from tierlab.observe.followed import Followed, Standing


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--command", "./serve", "--port", "80"], "--command is of your own application"),
        (["--running", "8000"], "--running is of your own application"),
        (
            ["--own", "--running", "8000", "--database", "mariadb"],
            "--database does not go with --running",
        ),
        (
            ["--own", "--compose", "compose.yml", "--start", "/", "--port", "80"],
            "--port does not go with --compose",
        ),
        (
            ["--own", "--command", "/bin/true", "--port", "80", "--start", "/", "--sql", __file__],
            "--sql fills a database; say --database postgresql or mariadb",
        ),
    ],
    ids=["without own", "running without own", "of another way", "of a compose file", "without it"],
)
def test_an_option_that_would_say_nothing_is_refused(
    tmp_path: Path, options: list[str], told: str
) -> None:
    file = tmp_path / "mine.toml"
    ended = CliRunner().invoke(app, ["init", str(file), *options])
    assert ended.exit_code != 0
    assert told in f"{ended.output}{ended.exception}"
    assert not file.exists()


def test_what_a_compose_file_leaves_open_can_be_said_in_the_file(tmp_path: Path) -> None:
    """No file was written, and the answer has no other place."""
    (tmp_path / "compose.yml").write_text("services: { web: { image: no-such-image } }\n")
    file = tmp_path / "mine.toml"
    options = ["--own", "--compose", "compose.yml", "--start", "/"]
    ended = CliRunner().invoke(app, ["init", str(file), *options])
    assert ended.exit_code != 0
    assert f"{file} is written, and lacks something yet: " in str(ended.exception)
    assert 'compose = "compose.yml"' in file.read_text()


def test_a_file_is_not_replaced_by_one_that_lacks_something(tmp_path: Path) -> None:
    """With --force it was, and what had been said in it was gone."""
    (tmp_path / "compose.yml").write_text("services: { web: { image: no-such-image } }\n")
    file = tmp_path / "mine.toml"
    file.write_text("mine = true\n")
    options = ["--own", "--compose", "compose.yml", "--start", "/", "--force"]
    ended = CliRunner().invoke(app, ["init", str(file), *options])
    assert ended.exit_code != 0
    assert "no-such-image" in str(ended.exception)
    assert file.read_text() == "mine = true\n"


def test_of_a_compose_file_that_is_not_there_nothing_is_written(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    options = ["--own", "--compose", "compose.yml", "--start", "/"]
    ended = CliRunner().invoke(app, ["init", str(file), *options])
    assert ended.exit_code != 0
    assert not file.exists()


def test_that_a_port_is_a_container_s_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What listens on it here is none of the server's processes."""
    with preforked(workers=0, name="docker-proxy") as (port, *_):
        seen = Followed([Standing("web", "127.0.0.1", port, "http", ())])
        monkeypatch.setattr("tierlab.cli.init.look", lambda *_: seen)
        file = tmp_path / "mine.toml"
        ended = CliRunner().invoke(app, ["init", str(file), "--own", "--running", str(port)])
    assert ended.exit_code == 0, ended.output
    assert (
        "note   web: its port is held by docker-proxy; its own processes are in a container;"
        " Tierlab does not measure them.\n"
    ) in ended.output
