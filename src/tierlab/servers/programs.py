"""Programs of the servers on this host."""

from __future__ import annotations

from collections.abc import Mapping

from tierlab.errors import UserError
from tierlab.machine.programs import locate


def find_program(program: str) -> str:
    """Find a server's program; `UserError` if it is missing."""
    found = locate(program)
    if found is None:
        raise UserError(f"the program '{program}' is missing.")
    return found


def check_programs(wanted: Mapping[str, str]) -> None:
    """Raise `UserError` with all that are missing and the Debian packages that bring them."""
    missing = {name: package for name, package in wanted.items() if locate(name) is None}
    if not missing:
        return
    names = ", ".join(f"'{name}'" for name in missing)
    packages = " ".join(dict.fromkeys(missing.values()))
    subject = f"the program {names} is" if len(missing) == 1 else f"the programs {names} are"
    raise UserError(f"{subject} missing; install with 'apt-get install {packages}'.")
