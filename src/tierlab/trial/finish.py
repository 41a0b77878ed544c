"""From what the agents wrote to a run folder's tables. Needs only the folder itself, so that a
trial that was killed can be finished later.
"""

from __future__ import annotations

import duckdb

from tierlab.environments.identity import Identity, is_alive
from tierlab.environments.whereabouts import Place
from tierlab.errors import StillRunningError, UserError
from tierlab.observe.inside_streams import bring_out
from tierlab.observe.profiler import bring_in_profile
from tierlab.observe.server_logs import read_server_logs
from tierlab.tables import manifest as manifests
from tierlab.tables.folder import RunFolder
from tierlab.tables.manifest import Manifest, Phase
from tierlab.tables.rows import write_rows
from tierlab.tables.streams import convert_all
from tierlab.trial.changer import made
from tierlab.trial.link import keep_unlinked, link

CUT_SHORT = "its process ended before the trial was complete (it was killed)"
CUT = "its writer was killed: the last batch is missing"


def finish(folder: RunFolder, manifest: Manifest) -> None:
    """Link the visits, make the tables and complete the manifest; the streams are then removed, but
    for visits that could not be linked.

    Raises :class:`UserError` when the disk does not take the tables; the streams stay then.
    """
    try:
        manifest.write(folder.path)
        link(folder, manifest)
        bring_out(folder, manifest)
        bring_in_profile(folder, manifest)
        read_server_logs(folder, manifest)
        write_rows(folder.streams / "changes.events.arrows", "events", made(folder.logs))
        for converted in convert_all(folder.streams, folder.path, manifest.host_name):
            if converted.truncated:
                manifest.not_measured[f"{converted.table} (end)"] = CUT
        manifest.phases = _phases(folder)
        manifest.write(folder.path)
        keep_unlinked(folder)
        folder.remove_streams()
    except OSError as error:
        first = f"{manifest.exit.error} " if manifest.exit.error else ""
        raise UserError(
            f"{first}{folder.path} cannot be completed ({error.strerror or error}); what was "
            f"measured is kept: make room, then `tierlab report {folder.path}` completes it."
        ) from error


def write_first(folder: RunFolder, manifest: Manifest) -> None:
    """Write the manifest before anything is started.

    Raises :class:`UserError` when the disk does not even take that.
    """
    try:
        manifest.write(folder.path)
    except OSError as error:
        raise UserError(
            f"{folder.path} cannot be written ({error.strerror or error}): make room there, or "
            "name another folder with --runs."
        ) from error


def recover(folder: RunFolder) -> Manifest:
    """Finish a trial whose own process did not live to do it.

    Raises :class:`StillRunningError` when that process still runs, or where nobody here can tell.
    """
    manifest = manifests.read(folder.path)
    _check_ended(folder, manifest)
    if manifest.exit.state == "running":
        manifest.exit.state = "failed"
        manifest.exit.error = CUT_SHORT
    finish(folder, manifest)
    return manifest


def _check_ended(folder: RunFolder, manifest: Manifest) -> None:
    owner = manifest.owner
    if owner is None:
        return
    if owner.machine is not None and owner.pid_namespace is not None:
        place = Place(manifest.host_name or "another", owner.machine, owner.pid_namespace)
        if (where := place.out_of_sight) is not None:
            raise StillRunningError(
                f"{folder.path} is run {where} (process {owner.pid}), and whether it still is can"
                f" only be told there: report it there first, or, if that is gone, set `owner` in"
                f" its {manifests.NAME} to null."
            )
    if is_alive(Identity(owner.pid, owner.start)):
        raise StillRunningError(
            f"{folder.path} is still being run (process {owner.pid}): wait for its end."
        )


def _phases(folder: RunFolder) -> list[Phase]:
    """The phases with their true times, as all drivers lived them: those of several systems set
    out a moment apart.
    """
    path = folder.path / "events.parquet"
    if not path.exists():
        return []
    # Not `read_table`: it has pandas loaded, which takes longer than all tables.
    found = duckdb.execute(
        """SELECT subject, max(t_ns) AS start_ns, min(t_ns + duration_ns) FROM read_parquet(?)
           WHERE kind = 'phase' GROUP BY subject ORDER BY start_ns""",
        [str(path)],
    ).fetchall()
    return [Phase(name=name, start_ns=start, end_ns=max(start, end)) for name, start, end in found]
