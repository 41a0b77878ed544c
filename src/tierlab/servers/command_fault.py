"""Why a command of the user's own cannot be run: told as its file is read, before any start."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from tierlab.machine.programs import locate
from tierlab.servers.command import SHELL, CommandOptions, split_command

LONGEST_LINE = 256
"""Of a script's first one the kernel reads no more."""
OPEN_TO_ALL = "that every user may run, as those in /usr/bin are"


def command_fault(options: CommandOptions) -> str | None:
    """Why a command cannot be run on this machine, as far as that is known before; None if it can.

    What a shell is asked for besides is the shell's, and what another PATH leads to is not looked
    for.
    """
    try:
        given, words = split_command(options.command)
    except ValueError as error:
        return f"cannot be read ({error})"
    program = words[0] if words else ""
    searched = any(each.startswith("PATH=") for each in given) or "PATH" in options.environment
    if SHELL.search(options.command) or (searched and "/" not in program):
        return None
    path = _path(program, options.folder)
    if path is None:
        return f'names "{program}", a program that is not on this machine; install it'
    return _fault_of(path, program, options.folder)


def _fault_of(path: Path, program: str, folder: str | None) -> str | None:
    """Why what is there cannot be run; None if it can."""
    if not path.is_file() or not os.access(path, os.X_OK):
        return f"names {path}, which is no program"
    interpreter = _interpreter(path)
    if interpreter is not None and not os.access(interpreter, os.X_OK):
        return f"names {path}, whose first line names {interpreter}, which is no program"
    if os.geteuid() != 0:
        return None
    return _closed_program(path, program, folder) or (
        None if interpreter is None else _closed_script(path, interpreter, program, folder)
    )


def _path(program: str, folder: str | None) -> Path | None:
    """Where it is, of a folder before that is copied; None where it is nowhere."""
    if "/" not in program:
        found = locate(program)
        return None if found is None else Path(found)
    if folder is None:
        return Path("/", program)
    return Path(folder, program.replace("{folder}", folder))


def _interpreter(script: Path) -> Path | None:
    """The program that a script's first line names; None where it names none."""
    try:
        with script.open("rb") as file:
            first = file.readline(LONGEST_LINE)
    except OSError:
        return None
    words = first.removeprefix(b"#!").split() if first.startswith(b"#!") else []
    return Path(os.fsdecode(words[0])) if words and words[0].startswith(b"/") else None


def _closed_program(path: Path, program: str, folder: str | None) -> str | None:
    """Why the user that servers run as may not run it, though root may."""
    real = path.resolve()
    ways: tuple[Path, ...] = (path, real)
    said = str(path)
    if folder is not None and _is_copied(program):
        ways = () if real.is_relative_to(Path(folder).resolve()) else (real,)
        said = f"{path}, a link to {real}"
    if (closed := _closed(*ways)) is None:
        return None
    advice = f"name one {OPEN_TO_ALL}, or bring it in the folder"
    if folder is not None and path in ways and path.is_relative_to(folder):
        advice = f'say "./{path.relative_to(folder)}", which is its copy'
    return f"names {said}, but {closed} is closed to the user that servers run as; {advice}"


def _closed_script(path: Path, interpreter: Path, program: str, folder: str | None) -> str | None:
    """The same of the program that runs a script: a copied script still names where that was."""
    if (closed := _closed(interpreter, interpreter.resolve())) is None:
        return None
    advice = f"have its first line name one {OPEN_TO_ALL}"
    if folder is not None and _is_copied(program) and interpreter.is_relative_to(folder):
        advice = f'say "{interpreter.relative_to(folder)} {program}", which are the copies'
    return (
        f"names {path}, a script that {interpreter} runs, but {closed} is closed to the user that"
        f" servers run as; {advice}"
    )


def _is_copied(program: str) -> bool:
    """Whether it is named by a place in the folder, of which each server has a copy."""
    return "/" in program and not program.startswith("/")


def _closed(*ways: Path) -> Path | None:
    """What of the ways to a program others may not pass; None where they may run it."""
    for way in ways:
        for step in (*reversed(way.parents), way):
            if not step.stat().st_mode & stat.S_IXOTH:
                return step
    return None
