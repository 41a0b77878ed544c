"""The shape of another machine, asked for over ssh(1) with the user's own keys and settings."""

from __future__ import annotations

import shutil
import subprocess
from functools import cache

from tierlab.errors import UserError

SCHEME = "ssh://"
SECONDS = 60.0
CONNECT_SECONDS = 10
UNREACHED = 255
"""Exit status of ssh where it could not reach the machine or get in."""
NOT_FOUND = 127
"""A shell's exit status for a program that is not there."""
ASKED = "lstopo-no-graphics --of xml 2>/dev/null || lstopo --of xml"
"""Debian's lstopo without graphics has the one name, other systems' the other."""


@cache
def export(source: str) -> str:
    """Ask ``ssh://[user@]host[:port]`` for hwloc's XML; UserError that says what is wrong.

    Nobody is asked for a password: the machine has to let the user in by a key.
    """
    ssh = shutil.which("ssh")
    if ssh is None:
        raise UserError("ssh is missing; install the package openssh-client.")
    options = ["-o", "BatchMode=yes", "-o", f"ConnectTimeout={CONNECT_SECONDS}"]
    try:
        done = subprocess.run(
            [ssh, *options, source, ASKED],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS,
        )
    except subprocess.TimeoutExpired as error:
        raise UserError(f"machine '{source}' gave no answer within {SECONDS:.0f} s.") from error
    said = (done.stderr.strip().splitlines() or ["nothing was said"])[-1]
    if done.returncode == UNREACHED:
        raise UserError(
            f"machine '{source}': ssh does not get there ({said}); try 'ssh {source} true'."
        )
    if done.returncode == NOT_FOUND:
        raise UserError(f"machine '{source}': hwloc is not there; install the package hwloc-nox.")
    if done.returncode != 0:
        raise UserError(
            f"machine '{source}': lstopo failed there ({said}); run it there to see why."
        )
    return done.stdout
