"""`tierlab image`: the root, kernel and programs that guests boot."""

from __future__ import annotations

import json as encoder
from typing import Annotated

import typer

from tierlab.environments import image_build

image = typer.Typer(help="The image that guests boot.", no_args_is_help=True)


@image.callback()
def about() -> None:
    """The image that guests boot: Debian with the servers, and a kernel."""


@image.command()
def build(json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Build the image, unless it is there: once, from this machine's own apt sources."""
    built = image_build.build(lambda doing: typer.echo(f"image: {doing}", err=True))
    if json:
        sizes = {path.name: path.stat().st_size for path in sorted(built.folder.iterdir())}
        typer.echo(encoder.dumps({"folder": str(built.folder), "bytes": sizes}, indent=2))
    else:
        typer.echo(str(built.folder))
