"""How a server is stopped whose main process looks for its workers' end now and then only."""

from __future__ import annotations

import signal
from collections.abc import Mapping
from typing import Any, ClassVar

import pytest

from tierlab.deploy.lifecycle import Instance
from tierlab.environments.domain import DomainSpec
from tierlab.environments.native.native import Native
from tierlab.servers.base import CONSOLE, NotReadyError, Options, Server, Settings, Site
from tierlab.servers.endpoint import Endpoint
from tierlab.servers.soft import SoftResource

pytestmark = pytest.mark.privileged

MAIN = """
$| = 1;
$worker = fork;
if (!$worker) {
    $SIG{TERM} = sub { select undef, undef, undef, 0.2; print "worker ended\n"; exit };
    sleep 60;
    exit;
}
$SIG{CHLD} = "IGNORE";
$SIG{USR1} = sub { kill "TERM", $worker };
$SIG{TERM} = sub { print "main ended\n"; exit };
print "up\n";
sleep 60 while 1;
"""


class Forked(Server):
    """A main process with one worker."""

    kind = "forked"
    programs: ClassVar[Mapping[str, str]] = {"perl": "perl-base"}
    soft_resources: ClassVar[Mapping[str, SoftResource]] = {}
    stop_signal = signal.SIGUSR1
    last_signal = signal.SIGTERM

    def render(self) -> dict[str, str]:
        return {}

    def prepare(self) -> None:
        return

    def command(self) -> list[str]:
        return ["perl", "-e", MAIN]

    def greet(self) -> None:
        if "up" not in (self.site.domain.text(CONSOLE) or ""):
            raise NotReadyError("it is not up")


def test_the_main_process_is_told_once_its_workers_have_ended(native: Native) -> None:
    domain = native.create(DomainSpec("forked"))
    nothing: Any = None
    site = Site(native, domain, Endpoint("127.0.9.1", 8080, "http"))
    instance = Instance(Forked(site, Settings({}, Options()), nothing))
    instance.start()
    instance.stop()
    assert domain.text(CONSOLE) == "up\nworker ended\nmain ended\n"
