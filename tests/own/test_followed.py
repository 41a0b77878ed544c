"""Who is behind a server that runs already, told by whichever of its processes called."""

from __future__ import annotations

import os
import socket
from typing import Any

import pytest

from tests.environments.preforked import preforked
from tierlab.observe.followed import Front, followed, front


def call(line: list[int], port: int) -> dict[str, Any]:
    """As the agent tells it: of this process's server, by the first of `line` or its parents."""
    return {
        "client": "127.0.0.1",
        "server": f"127.0.0.1:{port}",
        "pids": line,
        "listeners": [os.getpid()],
        "protocol": "redis",
        "connections": 1,
        "refused": 0,
        "spoken": 1,
    }


@pytest.mark.parametrize("which", range(4))
def test_any_process_of_a_server_may_call_and_be_named(which: int) -> None:
    """One of the workers was the server, by the last process that has its socket."""
    with socket.create_server(("127.0.0.1", 0)) as behind, preforked() as (port, first, *others):
        caller = [first, *others][which]
        assert front(f"pid:{caller}") == Front("127.0.0.1", port)
        line = [caller] if caller == first else [caller, first]
        found = followed([call(line, behind.getsockname()[1])], Front("127.0.0.1", port))
    web, cache = found.servers
    assert web.calls == (cache.name,)
    assert cache.protocol == "redis"
