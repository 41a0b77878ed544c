"""The profile of a trial: recorded by perf while it runs, and made into rows while its servers
live, which alone know the names of what they have compiled.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from tierlab.deploy.system import Subject
from tierlab.errors import UserError
from tierlab.exchange.perf_data import read_perf
from tierlab.exchange.perf_rows import PerfRows
from tierlab.experiment.profile import Profile
from tierlab.observe.agent import Spawn
from tierlab.observe.code_maps import CodeMaps
from tierlab.observe.perf import Recorder
from tierlab.observe.profile_needs import events_of
from tierlab.tables.folder import RunFolder
from tierlab.tables.manifest import Manifest
from tierlab.tables.rows import write_rows

RECORDING, OWNERS = "perf.data", "perf.owners.json"
"""Among the streams: a trial that is killed is finished from them."""


class Profiler:
    """Has a trial profiled. Where it cannot be, the reason is kept, and the trial goes on."""

    def __init__(self, folder: RunFolder, manifest: Manifest, spawn: Spawn) -> None:
        self._folder, self._manifest, self._spawn = folder, manifest, spawn
        self._recorder: Recorder | None = None
        self._events: tuple[str, ...] = ()
        self._owners: dict[int, str] = {}
        self._servers: list[Subject] = []

    def start(self, profile: Profile, servers: Iterable[Subject]) -> None:
        """Begin to record the whole machine; whose processes are these servers' is remembered."""
        self._servers, self._events = list(servers), events_of(profile)
        self._owners = owners(self._servers)
        self._remember()
        log = self._folder.logs / "perf.log"
        self._recorder = Recorder(profile, self._events, self._folder.streams / RECORDING, log)
        try:
            self._recorder.start(self._spawn)
        except UserError as error:
            self._recorder.stop()
            self._recorder = None
            (self._folder.streams / RECORDING).unlink(missing_ok=True)
            self._manifest.not_measured["counters"] = str(error)

    def check(self) -> None:
        """Raise :class:`UserError` when it has died."""
        if self._recorder is not None:
            self._recorder.check()

    def stop(self) -> None:
        """End the recording and make it into rows."""
        recorder, self._recorder = self._recorder, None
        if recorder is None:
            return
        recorder.stop()
        self._manifest.observation.costs["profile"] = recorder.cpu_ns
        # Those that began since are their servers' as well, unless they were seen to be others'.
        self._owners = owners(self._servers) | self._owners
        self._remember()
        maps = CodeMaps(self._spawn, self._folder.logs / "jcmd.log")
        try:
            for pid in maps.write(self._owners):
                self._manifest.not_measured[f"compiled functions of {self._owners[pid]}"] = (
                    f"its Java machine did not name them (log: {self._folder.logs / 'jcmd.log'})"
                )
            bring_in_profile(self._folder, self._manifest)
        finally:
            maps.remove()

    def _remember(self) -> None:
        (self._folder.streams / OWNERS).write_text(json.dumps(self._owners))


def owners(servers: Iterable[Subject]) -> dict[int, str]:
    """By process, whose it is: of a server that this kernel runs, or of its virtual machine."""
    found: dict[int, str] = {}
    for each in servers:
        pids = _members(each.cgroups)
        if not each.cgroups and not each.guest:
            pids = set(each.pids)
        found |= dict.fromkeys(sorted(pids), each.name)
    return found


def _members(cgroups: Mapping[str, Path]) -> set[int]:
    found: set[int] = set()
    for folder in cgroups.values():
        # What a server's own service has made below is its as well.
        for file in folder.rglob("cgroup.procs"):
            with suppress(OSError):
                found |= {int(pid) for pid in file.read_text().split()}
    return found


def bring_in_profile(folder: RunFolder, manifest: Manifest) -> None:
    """Make streams of what perf has recorded, and remove that; nothing where there is none."""
    recording = folder.streams / RECORDING
    if not recording.exists():
        return
    known = json.loads((folder.streams / OWNERS).read_text())
    made = PerfRows({int(pid): name for pid, name in known.items()})
    streams = folder.streams
    try:
        rows = made.counters(read_perf(recording), str(recording))
        count = write_rows(streams / "profile.counters.arrows", "counters", rows)
        write_rows(streams / "profile.stacks.arrows", "stacks", made.stack_rows())
    except UserError as error:
        for name in ("counters", "stacks"):
            (streams / f"profile.{name}.arrows").unlink(missing_ok=True)
        manifest.not_measured["counters"] = str(error)
        return
    recording.unlink()
    manifest.inputs += made.not_understood.notes("the profile by perf", made.samples)
    manifest.observation.summaries["profile"] = {"samples": count, "lost": made.lost}
    if made.lost:
        manifest.not_measured["counters (some)"] = f"perf lost {made.lost} events"
