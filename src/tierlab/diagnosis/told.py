"""What does a server tell of itself: pauses of its runtime, and what waits for its locks?"""

from tierlab.analysis.observed import Observed
from tierlab.analysis.query import columns
from tierlab.diagnosis.evidence import LOCK_WAITS
from tierlab.diagnosis.finding import Window
from tierlab.diagnosis.signals import Signals
from tierlab.diagnosis.stall_context import Pause
from tierlab.tables.manifest import Manifest
from tierlab.tables.run import Run
from tierlab.tables.schemas import SCHEMAS

DATABASE = "database"
"""The table of what databases count of themselves."""


def read_pauses(observed: Observed) -> dict[str, list[Pause]]:
    """Return the servers' own pauses, by those servers that logged any."""
    found = columns(
        observed.db,
        """SELECT subject, t_ns, duration_ns, detail FROM events
        WHERE kind IN ('gc', 'safepoint') ORDER BY t_ns""",
        {},
    )
    pauses: dict[str, list[Pause]] = {}
    for subject, start, length, detail in zip(*found.values(), strict=True):
        window = Window(start_ns=int(start), end_ns=int(start + length))
        pauses.setdefault(str(subject), []).append(Pause(window, str(detail)))
    return pauses


def tells_pauses(run: Run, server: str) -> bool:
    """Say whether a server that logged no pause in this run does log its runtime's: its log or all
    events are known to be missing.
    """
    return f"events gc of {server}" in run.manifest.not_measured or not run.has("events")


def tells_locks(run: Run, signals: Signals, server: str) -> bool:
    """Say whether a server counts what waits for its locks: it did in this run; or its counts are
    missing, and it is a database. Where that was not kept it is taken for one if nobody's counts
    were, others call it and it calls nobody, as what keeps data.
    """
    manifest = run.manifest
    if run.has(DATABASE) and server in signals.subjects(DATABASE, LOCK_WAITS):
        return True
    part = manifest.servers.get(server)
    if part is not None and part.is_database is not None:
        return _keeps_tables(manifest, server)
    topology = manifest.topology
    called_only = bool(topology.callers(server)) and not topology.callees(server)
    return called_only and not run.has(DATABASE)


def sources(manifest: Manifest) -> list[str]:
    """Return the tables that can tell something of this run: where no server is a database, there
    are no counts of one to be missed.
    """
    servers = manifest.servers
    none_is = bool(servers) and not any(_keeps_tables(manifest, name) for name in servers)
    return [name for name in SCHEMAS if not (none_is and name == DATABASE)]


def _keeps_tables(manifest: Manifest, server: str) -> bool:
    """Say whether a server is a database, as far as that was kept. One that Tierlab did not set up
    is told by what it speaks, unless it calls another that speaks so, as a proxy does.
    """
    part = manifest.servers[server]
    if part.is_database is not False:
        return True
    if not part.speaks_sql:
        return False
    called = manifest.topology.callees(server)
    return not any(manifest.servers[name].speaks_sql for name in called)
