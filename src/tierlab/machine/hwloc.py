"""hwloc's programs, which know the shape of a machine: this one, a saved one or a made-up one.

There is no kept Python binding of hwloc among the packages, so its own programs are asked:
`lstopo` (hwloc's manual page lstopo(1)) for the shape and `hwloc-calc` (hwloc-calc(1)) for
locations such as `package:0.core:0-3`. A source is one of:

- `HOST`, this machine;
- `ssh://[user@]host[:port]`, another machine that has hwloc too;
- the path of a file that `lstopo --of xml` wrote, here or on another machine;
- a synthetic description such as `pack:2 numa:1 core:4 pu:1`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

from tierlab.errors import UserError
from tierlab.machine import remote

HOST = "host"
PACKAGE = "hwloc-nox"
SECONDS = 30.0


@cache
def export(source: str = HOST) -> ElementTree.Element:
    """The machine as hwloc's XML (version 2); UserError that says what is wrong with the source.

    A file goes through lstopo too, so that what is parsed here is always hwloc's own output.
    """
    done = _ask("lstopo-no-graphics", source, ["--of", "xml"])
    if done.returncode != 0 or not done.stdout:
        raise UserError(
            f"machine '{source}': hwloc cannot read it ({_first_line(done.stderr)}); give an XML"
            " file of lstopo, ssh://HOST, or a synthetic description such as"
            ' "pack:2 numa:1 core:4 pu:1".'
        )
    return ElementTree.fromstring(done.stdout)


@cache
def pus_at(location: str, source: str = HOST) -> tuple[int, ...]:
    """The PUs at a location, by the operating system's numbers, in hwloc's order.

    That order is the machine's shape (package by package, core by core), whatever the operating
    system's numbers are. UserError for what is no location, or not on this machine.
    """
    if location.startswith("-"):
        raise _nowhere(location, source, "that is an option")
    asked = ["--physical-output", "--intersect", "PU", location]
    done = _ask("hwloc-calc", source, asked)
    # hwloc-calc leaves out what it does not know, says so and ends well. That it adds a NUMA node
    # to a description that has none ("Inserting ...") is no complaint.
    complaints = [line for line in done.stderr.splitlines() if not line.startswith("Inserting")]
    if done.returncode != 0 or complaints or not done.stdout.strip():
        said = _first_line("\n".join(complaints)) or "nothing is there"
        raise _nowhere(location, source, said)
    return tuple(int(number) for number in done.stdout.strip().split(","))


def _nowhere(location: str, source: str, why: str) -> UserError:
    return UserError(
        f"'{location}' is no place on machine '{source}' ({why}); say it in hwloc's words, such as"
        " package:0.core:0-3, numanode:1 or pu:2."
    )


def _input(source: str) -> list[str]:
    if source == HOST:
        return []
    if source.startswith(remote.SCHEME):
        return ["-i", "-", "--if", "xml"]
    if source.startswith("-"):
        raise UserError(f"machine '{source}': is an option; give a file or a description.")
    if source.endswith(".xml") and not Path(source).is_file():
        raise UserError(f"machine '{source}': there is no such file; name one that lstopo wrote.")
    return ["-i", source]


def _ask(program: str, source: str, arguments: list[str]) -> subprocess.CompletedProcess[str]:
    path = shutil.which(program)
    if path is None:
        raise UserError(f"{program} is missing; install the package {PACKAGE}.")
    told = remote.export(source) if source.startswith(remote.SCHEME) else None
    try:
        return subprocess.run(
            [path, *_input(source), *arguments],
            input=told,
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS,
            # Firmware that contradicts itself is no complaint about the question.
            env={**os.environ, "HWLOC_HIDE_ERRORS": "2"},
        )
    except subprocess.TimeoutExpired as error:
        raise UserError(f"{program} gave no answer within {SECONDS:.0f} s.") from error


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")
