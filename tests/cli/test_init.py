"""`tierlab init`: an option that says nothing of the file to write is refused."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from tierlab.cli.main import app


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--command", "./serve", "--port", "80"], "--command is of your own application"),
        (["--running", "8000"], "--running is of your own application"),
        (
            ["--own", "--running", "8000", "--database", "mariadb"],
            "--database does not go with --running",
        ),
    ],
    ids=["without own", "running without own", "of another way"],
)
def test_an_option_that_would_say_nothing_is_refused(
    tmp_path: Path, options: list[str], told: str
) -> None:
    file = tmp_path / "mine.toml"
    ended = CliRunner().invoke(app, ["init", str(file), *options])
    assert ended.exit_code != 0
    assert told in f"{ended.output}{ended.exception}"
    assert not file.exists()
