"""Programs of images that run to their end before a server starts, such as migrations."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

from tierlab.environments.domain import DomainSpec
from tierlab.environments.environment import Environment
from tierlab.errors import UserError
from tierlab.servers.base import CONSOLE
from tierlab.servers.failure import why
from tierlab.servers.image_first import FirstProgram

POLL_SECONDS = 0.02


def run_first(
    program: FirstProgram, environment: Environment, spec: DomainSpec, logs: Path
) -> None:
    """Run a program to its end in a domain of its own, which is removed then; what it prints is
    kept below `logs`. `UserError` if it fails, or does not end in time.
    """
    domain = environment.create(spec)
    patience = program.within * environment.slowness
    try:
        domain.start()
        process = domain.spawn(program.words, log=CONSOLE, env=program.variables)
        deadline = time.monotonic() + patience
        while (status := process.poll()) is None:
            if time.monotonic() > deadline:
                raise UserError(
                    f"{spec.name}: did not end within {patience:g} seconds; say `within` in its"
                    " table if it needs longer."
                )
            time.sleep(POLL_SECONDS)
        if status != 0:
            ended = f"was killed by signal {-status}" if status < 0 else f"ended with {status}"
            raise UserError(
                f"{spec.name}: {ended}{why(domain.folder, [domain.text(CONSOLE) or ''])}"
            )
    finally:
        folder = logs / spec.name
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            domain.get("logs", folder)
        domain.destroy()
