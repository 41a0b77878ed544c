"""Starting processes of a trial: in its ledger before they become their programs."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from subprocess import PIPE, Popen, TimeoutExpired

from tierlab.environments.domain import Completed
from tierlab.environments.entered_process import EnteredProcess
from tierlab.environments.identity import identify
from tierlab.environments.ledger import Ledger
from tierlab.environments.process import HostProcess, Launch, let_go, open_gate, remove_code_map

LAST_WORDS_SECONDS = 1.0


def hold(
    ledger: Ledger, launch: Launch, output: int, errors: int
) -> tuple[HostProcess, Popen[bytes]]:
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
    kind = EnteredProcess if launch.stays else HostProcess

    def ended() -> None:
        remove_code_map(identity.pid)
        ledger.strike(entry)

    return kind(popen, identity, ledger.token, ended), popen


def launch_program(ledger: Ledger, launch: Launch, output: int, errors: int) -> HostProcess:
    """Start a process."""
    process, popen = hold(ledger, launch, output, errors)
    let_go(popen)
    return process


def run_to_end(ledger: Ledger, launch: Launch, timeout: float) -> Completed | None:
    """Run a program to its end; None if it did not end within `timeout` seconds and was killed."""
    process, popen = hold(ledger, launch, PIPE, PIPE)
    try:
        output, errors = popen.communicate(b"go\n", timeout)
    except TimeoutExpired:
        process.stop(0.0)
        # Who left the program's session may hold its pipes open for ever.
        with suppress(TimeoutExpired):
            popen.communicate(timeout=LAST_WORDS_SECONDS)
        return None
    process.stop(0.0)
    return Completed(
        popen.returncode, output.decode(errors="replace"), errors.decode(errors="replace")
    )


def last_words(errors: str) -> str:
    """What a program gave as its reason, on the last line of its standard error."""
    lines = errors.strip().splitlines() or ["no reason given"]
    return lines[-1].removeprefix("Error: ").removeprefix("error: ")


def launch_agent(
    ledger: Ledger,
    argv: Sequence[str],
    log: Path,
    prefix: Sequence[str] = (),
    cgroups: Sequence[Path] = (),
) -> HostProcess:
    """Start a program of the laboratory itself, with the caller's rights.

    Its standard output is a pipe, its standard error goes to `log`. `prefix` and `cgroups`: see
    `Launch`.
    """
    launch = Launch(argv, ledger.token, cgroups, prefix)
    with log.open("ab") as errors:
        return launch_program(ledger, launch, PIPE, errors.fileno())
