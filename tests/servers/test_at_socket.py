"""A server at a UNIX socket comes up, is asked there, and is told when it is there no more."""

from __future__ import annotations

import socket
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.own.debian_site import started
from tierlab.deploy.lifecycle import Instance
from tierlab.deploy.standing import Standing
from tierlab.environments.domain import DomainSpec
from tierlab.environments.native.standing_domain import StandingDomain
from tierlab.errors import UserError
from tierlab.servers.address import Address, AddressOptions
from tierlab.servers.base import Settings, Site
from tierlab.servers.command import Command, CommandOptions
from tierlab.servers.endpoint import Endpoint

PROGRAM = Path(__file__).parents[1] / "own" / "at_socket.py"
NO_CONTENT: Any = None


@pytest.fixture
def path() -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="u-") as folder:
        yield str(Path(folder, "app.sock"))


def there(path: str, folder: Path, environment: Any = None, **keys: Any) -> Address:
    """A server that runs already, as a file has it."""
    ground: Any = SimpleNamespace(work=folder, user=None, namespace=None)
    domain = StandingDomain(ground, DomainSpec("app.1", standing_socket=path))
    environment = environment or SimpleNamespace(slowness=1.0)
    endpoint = Endpoint("127.0.0.1", keys.get("port", 0), "http", path)
    site = Site(environment, domain, endpoint)
    options = AddressOptions.model_validate({"socket": path} | keys)
    return Address(site, Settings({}, options), NO_CONTENT)


@pytest.mark.parametrize("name", ["", "@tierlab-test-at-socket"])
def test_one_that_runs_is_asked_for_its_page_at_its_socket(
    path: str, name: str, tmp_path: Path
) -> None:
    """An abstract name needs no file."""
    where = name or path
    standing = Standing(there(where, tmp_path, ready="/"))
    with pytest.raises(UserError, match=f"^app.1: nothing that works answers at {where} "):
        standing.start()
    command = [sys.executable, str(PROGRAM), where]
    with started(command, where if name else Path(where)):
        standing.start()
        standing.check()
    with pytest.raises(UserError, match=rf"^app\.1: nobody listens at {where} now\.$"):
        standing.check()


def test_of_one_with_a_port_too_both_have_to_take_connections(path: str, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as at_port:
        number = at_port.getsockname()[1]

        def connect(address: str, port: int, *, timeout: float) -> socket.socket:
            return socket.create_connection((address, port), timeout)

        environment = SimpleNamespace(slowness=1.0, connect=connect)
        server = there(path, tmp_path, environment, address="127.0.0.1", port=number)
        with pytest.raises(FileNotFoundError):
            server.greet()
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(path)
            listening.listen()
            server.greet()


class Here:
    """A domain that is a folder and nothing else."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.spec = folder, DomainSpec("app.1")

    def connect_unix(self, path: str, *, timeout: float) -> socket.socket:
        link = socket.socket(socket.AF_UNIX)
        link.settimeout(timeout)
        try:
            link.connect(path)
        except OSError:
            link.close()
            raise
        return link


def instance(path: str, folder: Path) -> Instance:
    """A command's server that is about to be started."""
    environment: Any = SimpleNamespace(slowness=1.0)
    domain: Any = Here(folder)
    site = Site(environment, domain, Endpoint("127.0.0.1", 0, "http", path))
    options = CommandOptions.model_construct(command="true", socket=path)
    return Instance(Command(site, Settings({}, options), NO_CONTENT))


def test_a_socket_at_which_another_program_listens_is_refused(path: str, tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path)
        listening.listen()
        with pytest.raises(UserError) as raised:
            instance(path, tmp_path).start()
    assert str(raised.value) == (
        f"app.1: another program accepts connections at {path}; stop that program and try again."
    )


def test_a_socket_in_a_folder_that_is_not_there_is_refused_before_the_start(tmp_path: Path) -> None:
    with pytest.raises(UserError) as raised:
        instance("/run/no-such-folder/app.sock", tmp_path).start()
    assert str(raised.value) == (
        "app.1: /run/no-such-folder/app.sock is to be its socket, and there is no folder"
        " /run/no-such-folder; make it, or say a path in the server's own folder, such as app.sock."
    )
