"""From visits as they were captured to visits with their parents: at the trial's end, or later,
where the agent that links them could not be had then.
"""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from tierlab.environments.launching import launch_agent
from tierlab.environments.ledger import Ledger
from tierlab.errors import UserError
from tierlab.observe import agent, plans
from tierlab.tables import manifest as manifests
from tierlab.tables.folder import RunFolder
from tierlab.tables.manifest import Manifest
from tierlab.tables.streams import Stream, to_parquet
from tierlab.trial.outcome import record_summary

RAW, LINKED = "raw_visits.arrows", "visits.arrows"
OVER_UNIX_SOCKETS, TURNS = "unix.raw_visits.arrows", "raw_turns.arrows"
ALL_RAW = (RAW, OVER_UNIX_SOCKETS, TURNS)
KEPT = "What was captured is kept, and `tierlab report` links it once that is mended."


def link(folder: RunFolder, manifest: Manifest) -> None:
    """Make the stream of visits from the raw one, which is then removed.

    Where that fails the raw one stays if there are visits in it, and the manifest says why there
    are none linked.
    """
    if _link(folder.streams, folder, manifest):
        for name in ALL_RAW:
            (folder.streams / name).unlink(missing_ok=True)


def keep_unlinked(folder: RunFolder) -> None:
    """Take raw visits that could not be linked out of the streams, before those are removed."""
    raw = folder.streams / RAW
    if raw.exists():
        folder.unlinked.mkdir(exist_ok=True)
        for name in ALL_RAW:
            if (folder.streams / name).exists():
                (folder.streams / name).replace(folder.unlinked / name)


def link_later(folder: RunFolder) -> None:
    """Link what could not be linked at the trial's end, and make the table.

    Where that is not possible now either, the folder stays as readable as it is.
    """
    # Somebody else's cannot be written to.
    with suppress(OSError):
        manifest = manifests.read(folder.path)
        linked = _link(folder.unlinked, folder, manifest)
        if linked:
            to_parquet("visits", [folder.unlinked / LINKED], folder.path, manifest.host_name)
            folder.forget_figures()
        manifest.write(folder.path)
        if linked:
            shutil.rmtree(folder.unlinked)


def _link(place: Path, folder: RunFolder, manifest: Manifest) -> bool:
    """Link what is in `place`, to a stream beside it; say whether there was something to link and
    all went well.
    """
    raw = place / RAW
    if not raw.exists():
        return False
    try:
        summary = _run(raw, folder, manifest)
    except UserError as error:
        # A part of them would be taken for all.
        (place / LINKED).unlink(missing_ok=True)
        manifest.not_measured["visits"] = str(error)
        if any(batch.num_rows for batch in Stream(raw).batches()):
            manifest.not_measured["visits"] += f" {KEPT}"
        else:
            raw.unlink()
        return False
    if manifest.not_measured.get("visits", "").endswith(KEPT):
        del manifest.not_measured["visits"]
    record_summary(manifest, "link", summary)
    return True


def _run(raw: Path, folder: RunFolder, manifest: Manifest) -> dict[str, Any]:
    kind_of = {name: part.server for name, part in manifest.servers.items()}
    unix, turns = raw.parent / OVER_UNIX_SOCKETS, raw.parent / TURNS
    plan = plans.link(
        raw,
        manifest.topology,
        kind_of,
        also=[unix] if unix.exists() else [],
        turns=turns if turns.exists() else None,
    )
    # The trial's own ledger is closed by now, and is another process's when it was killed.
    ledger = Ledger(f"{manifest.experiment[:18]}-{manifest.trial}-link-{os.getpid()}")
    try:
        spawn = partial(launch_agent, ledger)
        return agent.link(plan, raw.parent, folder.logs, spawn, raw.stat().st_size)
    finally:
        ledger.close()
