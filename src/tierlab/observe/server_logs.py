"""From what the servers wrote about themselves to streams beside the agents' own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from tierlab.errors import UserError
from tierlab.servers.gc_log import pauses
from tierlab.servers.soft_log import uses
from tierlab.servers.stop_log import stops
from tierlab.tables.clock import on_host
from tierlab.tables.folder import RunFolder
from tierlab.tables.manifest import Manifest
from tierlab.tables.rows import write_rows

GC_LOG = Path("logs/gc.log")
STOP_LOG = Path("logs/stops.log")
SOFT_LOG = Path("logs/soft.log")
"""Each in the folder of a server's saved logs."""


def read_server_logs(folder: RunFolder, manifest: Manifest) -> None:
    """Write streams of stops (events), the JVMs' and others', and of soft resources in use."""
    stopped = [*_of_jvms(folder, manifest), *_of_others(folder, manifest)]
    write_rows(folder.streams / "stops.events.arrows", "events", stopped)
    soft = _uses(folder, manifest)
    if soft:
        write_rows(folder.streams / "soft.arrows", "soft", soft)
    else:
        manifest.not_measured["soft"] = "no server has left a log of its soft resources"


def _of_jvms(folder: RunFolder, manifest: Manifest) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for subject, path in _logs(folder, GC_LOG):
        try:
            found = pauses(path.read_text(errors="replace").splitlines())
        except UserError as error:
            manifest.not_measured[f"events gc of {subject}"] = f"{path}: {error}"
            continue
        stops = [
            {
                "t_ns": pause.start_ns,
                "duration_ns": pause.duration_ns,
                "kind": "gc" if pause.is_collection else "safepoint",
                "subject": subject,
                "detail": pause.cause,
            }
            for pause in found
        ]
        rows += _on_host(stops, "events gc", subject, manifest)
    return rows


def _of_others(folder: RunFolder, manifest: Manifest) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for subject, path in _logs(folder, STOP_LOG):
        with path.open(errors="replace") as log:
            found = [
                {
                    "t_ns": stop.start_ns,
                    "duration_ns": stop.duration_ns,
                    "kind": stop.kind,
                    "subject": subject,
                    "detail": stop.words,
                }
                for stop in stops(log)
            ]
        rows += _on_host(found, "events gc", subject, manifest)
    return rows


def _uses(folder: RunFolder, manifest: Manifest) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for subject, path in _logs(folder, SOFT_LOG):
        with path.open(errors="replace") as log:
            found = [{"subject": subject, **vars(use)} for use in uses(log)]
        rows += _on_host(found, "soft", subject, manifest)
    return rows


def _on_host(
    rows: list[dict[str, Any]], what: str, subject: str, manifest: Manifest
) -> list[dict[str, Any]]:
    """The rows on the host's clock; none where their server has its own that was never read."""
    readings = manifest.clocks.get(subject)
    if readings is None:
        return rows
    if not readings:
        manifest.not_measured[f"{what} of {subject}"] = "its domain's clock could not be read"
        return []
    times = on_host(readings, np.array([row["t_ns"] for row in rows], np.int64))
    return [{**row, "t_ns": int(t_ns)} for row, t_ns in zip(rows, times, strict=True)]


def _logs(folder: RunFolder, name: Path) -> list[tuple[str, Path]]:
    """Subjects that have such a log, and where."""
    return [
        (path.relative_to(folder.logs).parts[0], path)
        for path in sorted(folder.logs.glob(f"*/{name}"))
    ]
