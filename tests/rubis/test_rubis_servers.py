"""Each of the configurations in the application's README serves it, as it stands there."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.rubbos.private_mariadb import PATIENCE_SECONDS, free_port
from tests.web import Site
from tierlab.workloads.rubis.shape import APPLICATION, STATIC_PATHS

from .databases import Server
from .php import ADDRESS, await_port, environment, mistakes
from .private_postgresql import ACCOUNT

pytestmark = pytest.mark.slow
BLOCK = re.compile(r"^```\w+ (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FPM = ("php-fpm8.2", "-F", "-c", "{}/php.ini", "-y", "{}/fpm.conf")
STACKS = {
    "nginx-fpm": (FPM, ("nginx", "-c", "{}/nginx.conf", "-e", "{}/error.log")),
    "httpd-fpm": (FPM, ("apache2", "-f", "{}/proxy.conf", "-DFOREGROUND")),
    "mod_php": (("apache2", "-f", "{}/mod_php.conf", "-DFOREGROUND"),),
}
LINE = re.compile(r"(?P<begin>\d{10}) (?P<id>\S*) (?P<status>\d+) (?P<took>\d+) (?P<rest>.*)")


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that servers without privileges may write to, with a copy of the application."""
    folder = Path(tempfile.mkdtemp(prefix="tierlab-php-"))
    try:
        shutil.copytree(APPLICATION, folder / "rubis")
        folder.chmod(0o755)
        if ACCOUNT:
            shutil.chown(folder, ACCOUNT["user"], ACCOUNT["group"])
        yield folder
    finally:
        shutil.rmtree(folder)


def write_configurations(folder: Path, database: Server, **ports: int) -> None:
    variables = environment(database)
    values = {
        **{"FOLDER": str(folder), "ROOT": str(folder / "rubis"), "DSN": variables["RUBIS_DSN"]},
        **{"USER": variables["RUBIS_USER"], "PASSWORD": variables["RUBIS_PASSWORD"]},
        **{name: str(port) for name, port in ports.items()},
    }
    for file, text in BLOCK.findall((APPLICATION / "README.md").read_text()):
        filled = re.sub("@([A-Z]+)@", lambda place: values[place[1]], text)
        (folder / file).write_text(filled)


@contextmanager
def started(command: tuple[str, ...], folder: Path) -> Iterator[None]:
    variables = os.environ | {"PHP_INI_SCAN_DIR": ""}
    variables = {name: value for name, value in variables.items() if not name.startswith("RUBIS")}
    with (folder / "console").open("ab") as log:
        process = subprocess.Popen(
            [part.format(folder) for part in command],
            stdout=log,
            stderr=log,
            cwd=folder,
            env=variables,
            # httpd's prefork ends its whole process group.
            start_new_session=True,
            **ACCOUNT,
        )
    try:
        yield
    finally:
        process.terminate()
        process.wait(PATIENCE_SECONDS)


@pytest.mark.parametrize("stack", STACKS)
def test_it_is_served_as_its_readme_says(stack: str, database: Server, folder: Path) -> None:
    port, fpm = free_port(), free_port()
    write_configurations(folder, database, PORT=port, FPM=fpm)
    site = Site(port, ADDRESS)
    with ExitStack() as servers:
        for command in STACKS[stack]:
            servers.enter_context(started(command, folder))
            await_port(fpm if command is FPM else port)
        for path in STATIC_PATHS:
            assert site.fetch(path)[0] == 200
        read = site.get("BrowseCategories", request_id="ab12", region="Lyon")
        assert (read.status, len(read.links_to("SearchItemsByRegion"))) == (200, 20)
        asked = site.get("SearchItemsByCategory", category=2)
        assert len(asked.links_to("ViewItem")) == 25
        posted = site.post("AboutMe", nickname="user2", password="password2")
        assert (posted.status, posted.says_sorry()) == (200, False)
        assert mistakes(read, asked, posted) == ""
        assert site.get("ViewItem", itemId="x").status == 400
        status, library = site.fetch("/library/Settings.php")
        assert (status, b"RUBIS_DSN" in library) == (404, False)
    if FPM in STACKS[stack]:
        lines = [LINE.fullmatch(line) for line in (folder / "access.log").read_text().splitlines()]
        assert [(line["id"], line["status"], line["rest"]) for line in lines if line] == [
            ("ab12", "200", "GET /rubis/php/BrowseCategories.php?region=Lyon"),
            ("", "200", "GET /rubis/php/SearchItemsByCategory.php?category=2"),
            ("", "200", "POST /rubis/php/AboutMe.php"),
            ("", "400", "GET /rubis/php/ViewItem.php?itemId=x"),
        ]
        assert all(int(line["took"]) > 0 for line in lines if line)
