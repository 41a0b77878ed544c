"""`tierlab clean`: remove what trials that did not come to their end have left behind."""

from __future__ import annotations

import json as encoder
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from tierlab.environments.files import remove_tree
from tierlab.environments.images import image
from tierlab.environments.ledger import Account, accounts, remove_unopened
from tierlab.environments.removal import remove_account
from tierlab.environments.removers import describe
from tierlab.errors import UserError


def clean(
    force: Annotated[
        bool, typer.Option("--force", help="Clean trials too that are still running.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would be removed.")
    ] = False,
    cache: Annotated[
        bool,
        typer.Option(
            "--cache",
            help="Remove what is cached too (data sets, archives of classes, images, pictures), if"
            " no trial runs.",
        ),
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Remove processes, containers, guests, groups and folders that dead trials left behind."""
    if not dry_run:
        remove_unopened()
    found = accounts()
    live = [each for each in found if _is_elsewhere(each) or (each.is_live and not force)]
    dead = [account for account in found if account not in live]
    removed: dict[str, list[str]] = {}
    left: dict[str, list[str]] = {}
    for account in dead:
        if dry_run:
            removed[account.trial] = [describe(entry) for entry in reversed(account.entries)]
        else:
            removed[account.trial], left[account.trial] = remove_account(account)
    if cache and not live and (kept := _cached()):
        removed["cache"] = [str(folder) for folder in kept]
        if not dry_run:
            for folder in kept:
                remove_tree(folder)
    _print(removed, left, live, dry_run=dry_run, json=json)
    problems = [note for notes in left.values() for note in notes]
    if problems:
        raise UserError(f"not everything could be removed: {'; '.join(problems)}.")


def _is_elsewhere(account: Account) -> bool:
    """Whether it is another machine's, whose things are not here to be removed."""
    return account.place is not None and account.place.is_elsewhere


def _left_alone(account: Account) -> str:
    if account.out_of_sight is None:
        return f"still running ({account.process}); left alone"
    remedy = "clean it there" if _is_elsewhere(account) else "clean it there, or here with --force"
    return f"may still run ({account.process}); {remedy}, or delete {account.path} if that is gone"


def _cached() -> list[Path]:
    # They take longer to load than most removals take.
    from tierlab.servers.kinds import KINDS
    from tierlab.servers.made_once import cache_folder
    from tierlab.workloads.olio import pictures

    folders = (*map(cache_folder, KINDS), image.cache_folder(), pictures.cache_folder())
    return [folder for folder in folders if folder.exists()]


def _print(
    removed: dict[str, list[str]],
    left: dict[str, list[str]],
    live: list[Account],
    *,
    dry_run: bool,
    json: bool,
) -> None:
    if json:
        running = {account.trial: account.owner.pid for account in live}
        document = {"dry_run": dry_run, "removed": removed, "left": left, "running": running}
        typer.echo(encoder.dumps(document, indent=2))
        return
    console = Console(highlight=False, soft_wrap=True)
    for trial, notes in removed.items():
        console.print(f"{trial}: {'would remove' if dry_run else 'cleaned'}", markup=False)
        for note in notes:
            console.print(f"  {note}", markup=False)
    for account in live:
        console.print(f"{account.trial}: {_left_alone(account)}", markup=False)
    if not removed and not live:
        console.print("nothing to clean")
