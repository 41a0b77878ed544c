"""`tierlab image`: the root, kernel and programs that guests boot."""

from __future__ import annotations

import json as encoder
from collections.abc import Sequence
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from tierlab.environments.images import build as image_build
from tierlab.environments.images import cache as image_cache
from tierlab.environments.images.cache import Kept
from tierlab.environments.images.image import RECIPES, cache_folder
from tierlab.environments.snapshots.shelf import outdated
from tierlab.report.figures import amount

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]

image = typer.Typer(
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="The images that guests boot.",
    no_args_is_help=True,
)


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
    json: Json = False,
) -> None:
    """Build an image, unless it is there: once, from this machine's own apt sources."""
    built = image_build.build(RECIPES[name], lambda doing: typer.echo(f"image: {doing}", err=True))
    if json:
        sizes = {
            path.name: path.stat().st_size
            for path in sorted(built.folder.iterdir())
            if path.is_file()
        }
        typer.echo(encoder.dumps({"folder": str(built.folder), "bytes": sizes}, indent=2))
    else:
        typer.echo(str(built.folder))


@image.command("list")
def list_images(json: Json = False) -> None:
    """List the images in the cache: what each is for, its size, when a trial last took it."""
    kept = image_cache.kept()
    if json:
        typer.echo(encoder.dumps([_as_json(each) for each in kept], indent=2))
        return
    if not kept:
        typer.echo(f"{cache_folder()} has no image; 'tierlab image build' makes one.")
        return
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for heading in ("image", "for", "snapshots", "size", "last used", ""):
        table.add_column(heading, no_wrap=True)
    for each in kept:
        table.add_row(
            each.image.folder.name,
            ", ".join(each.names) or "another version",
            str(each.snapshots),
            amount(float(each.size), "B"),
            datetime.fromtimestamp(each.used, UTC).strftime("%Y-%m-%d %H:%M UTC"),
            "in use" if each.held else "",
        )
    Console(highlight=False).print(table)


@image.command()
def prune(
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would be removed.")
    ] = False,
    json: Json = False,
) -> None:
    """Remove images that no recipe of this version names, unless a running trial has them.

    Of the others those snapshots go that another QEMU took, or on another processor.
    """
    old = image_cache.unnamed()
    snapshots = [each for kept in image_cache.kept() if kept.names for each in outdated(kept.image)]
    removed = [each for each in old if (not each.held if dry_run else image_cache.drop(each.image))]
    left = [each for each in old if each not in removed]
    if not dry_run:
        for snapshot in snapshots:
            snapshot.drop()
    if json:
        said: dict[str, Any] = {"dry_run": dry_run}
        for what, images in (("removed", removed), ("in_use", left)):
            said[what] = [_as_json(each) for each in images]
        said["snapshots"] = [str(each.file) for each in snapshots]
        typer.echo(encoder.dumps(said, indent=2))
        return
    _say("would remove" if dry_run else "removed", removed)
    _say("left, a running trial has it:", left)
    for each in snapshots:
        typer.echo(f"{'would remove' if dry_run else 'removed'} {each.file}")
    if not old:
        typer.echo("no image is of another version")


def _say(done: str, images: Sequence[Kept]) -> None:
    for each in images:
        typer.echo(f"{done} {each.image.folder} ({amount(float(each.size), 'B')})")


def _as_json(each: Kept) -> dict[str, Any]:
    return {
        "folder": str(each.image.folder),
        "for": each.names,
        "bytes": each.size,
        "snapshots": each.snapshots,
        "last_used": datetime.fromtimestamp(each.used, UTC).isoformat(timespec="seconds"),
        "in_use": each.held,
    }
