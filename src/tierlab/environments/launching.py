"""Starting processes of a trial: in its ledger before they become their programs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from subprocess import PIPE, Popen

from tierlab.environments.ledger import Ledger
from tierlab.environments.process import (
    EnteredProcess,
    Launch,
    Process,
    identify,
    let_go,
    open_gate,
)


def hold(ledger: Ledger, launch: Launch, output: int, errors: int) -> tuple[Process, Popen[bytes]]:
    """Bring a process as far as the ledger; it waits for its word (see `let_go`)."""
    popen = open_gate(launch, output, errors)
    try:
        identity = identify(popen.pid)
        program = Path(launch.argv[0]).name
        entry = ledger.add("process", pid=identity.pid, start=identity.start, program=program)
    except BaseException:
        popen.kill()
        popen.communicate()
        raise
    kind = EnteredProcess if launch.stays else Process
    return kind(popen, identity, ledger.token, lambda: ledger.strike(entry)), popen


def launch_program(ledger: Ledger, launch: Launch, output: int, errors: int) -> Process:
    """Start a process."""
    process, popen = hold(ledger, launch, output, errors)
    let_go(popen)
    return process


def launch_agent(
    ledger: Ledger,
    argv: Sequence[str],
    log: Path,
    prefix: Sequence[str] = (),
    cgroups: Sequence[Path] = (),
) -> Process:
    """Start a program of the laboratory itself, with the caller's rights.

    Its standard output is a pipe, its standard error goes to `log`. `prefix` and `cgroups`: see
    `Launch`.
    """
    launch = Launch(argv, ledger.token, cgroups, prefix)
    with log.open("ab") as errors:
        return launch_program(ledger, launch, PIPE, errors.fileno())
