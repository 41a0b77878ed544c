"""``tierlab init``: write a commented experiment file to start from."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from tierlab.errors import UserError
from tierlab.experiment.template import template


def init(
    path: Annotated[Path, typer.Argument(help="The file to write.")] = Path("experiment.toml"),
    force: Annotated[bool, typer.Option("--force", help="Replace a file that exists.")] = False,
) -> None:
    """Write a commented experiment file: every key, with its default."""
    if path.is_dir():
        raise UserError(f"{path}: is a folder; name the file to write, such as {path}/mine.toml.")
    if path.exists() and not force:
        raise UserError(f"{path}: exists already; name another file, or add --force.")
    _write(path, template(_name(path)))
    typer.echo(f"Wrote {path}. Change what you like, then: tierlab run {path}")


def _write(path: Path, text: str) -> None:
    """All of the text or, when the disk is full, nothing: it is written beside and then moved."""
    part = path.with_name(f"{path.name}.part")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise UserError(f"{path}: cannot be written: {error.strerror}.") from None


def _name(path: Path) -> str:
    """The experiment's name after the file's, in the letters that a name may have."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", path.stem).strip("-._")[:64]
    return name or "experiment"
