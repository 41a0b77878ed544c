"""`tierlab image`: the root, kernel and programs that guests boot."""

from __future__ import annotations

import json as encoder
from enum import StrEnum
from typing import Annotated

import typer

from tierlab.environments import image_build
from tierlab.environments.image import RECIPES

image = typer.Typer(help="The images that guests boot.", no_args_is_help=True)


class Name(StrEnum):
    """Which image."""

    GUEST = "guest"
    XEN = "xen"


@image.callback()
def about() -> None:
    """The images that guests boot: Debian with the servers, and a kernel."""


@image.command()
def build(
    name: Annotated[
        Name, typer.Argument(help="For qemu's guests, or for a host with Xen and its domains.")
    ] = Name.GUEST,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Build an image, unless it is there: once, from this machine's own apt sources."""
    built = image_build.build(RECIPES[name], lambda doing: typer.echo(f"image: {doing}", err=True))
    if json:
        sizes = {path.name: path.stat().st_size for path in sorted(built.folder.iterdir())}
        typer.echo(encoder.dumps({"folder": str(built.folder), "bytes": sizes}, indent=2))
    else:
        typer.echo(str(built.folder))
