"""Which trials are alike? Run folders in groups: by the folder named, or by their levels."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tierlab.analysis.comparing.asked import differing
from tierlab.errors import UserError
from tierlab.tables.manifest import NAME
from tierlab.tables.run import Run


@dataclass(frozen=True)
class Group:
    """Trials that differ in nothing that was asked for."""

    name: str
    runs: tuple[Run, ...]


def groups(folders: Sequence[Path]) -> list[Group]:
    """A group for each folder, a trial's or an experiment's; of one folder, a group for each
    combination of levels. UserError when there are not two groups, or a group is mixed.
    """
    alone = len(folders) == 1
    found = groups_of(folders[0]) if alone else [_alike(folder) for folder in folders]
    if len(found) < 2:
        raise UserError(
            f"{folders[0]}: has one combination of levels; name another run folder to compare"
            " it with."
        )
    return found


def groups_of(folder: Path) -> list[Group]:
    """A group for each combination of levels among the trials of a folder, in their order.
    UserError where trials of the same levels were made under different settings.
    """
    by_levels: dict[str, list[Run]] = {}
    for run in _runs(folder):
        by_levels.setdefault(_levels(run), []).append(run)
    for runs in by_levels.values():
        if told := differing({run.path.name: run.manifest for run in runs}):
            raise UserError(
                f"{folder}: has trials of the same levels that were made under different settings"
                f" ({told}), which are no repetitions; move each setting's to a folder of its own."
            )
    return [Group(levels, tuple(runs)) for levels, runs in by_levels.items()]


def _alike(folder: Path) -> Group:
    found = groups_of(folder)
    if len(found) > 1:
        raise UserError(
            f"{folder}: has trials of {len(found)} combinations of levels; name that folder alone"
            " to compare them with each other."
        )
    return Group(str(folder), found[0].runs)


def _runs(folder: Path) -> list[Run]:
    """The trials there that came to their end. UserError where there is none."""
    if (folder / NAME).is_file():
        run = Run(folder)
        if run.manifest.exit.state != "done":
            raise UserError(
                f"{folder}: did not come to its end, so its figures are of another stretch than"
                f" others'; `tierlab report {folder}` says what it saw."
            )
        return [run]
    found = [Run(each.parent) for each in sorted(folder.glob(f"*/{NAME}"))]
    done = [run for run in found if run.manifest.exit.state == "done"]
    if not done:
        raise UserError(
            f"{folder}: there is no run folder of a trial that came to its end; name one, or an"
            " experiment's folder."
        )
    return done


def _levels(run: Run) -> str:
    levels = run.manifest.factors
    return ", ".join(f"{key} = {json.dumps(levels[key])}" for key in levels) or str(run.path.parent)
