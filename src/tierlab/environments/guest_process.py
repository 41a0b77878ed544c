"""Programs of a trial inside a guest, each in a control group of its own there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from signal import SIGKILL, SIGTERM, Signals
from typing import IO

from tierlab.environments.guest_agent import AgentGoneError, AgentSilentError, GuestAgent
from tierlab.environments.process import KILL_SECONDS, Process

GROUPS = "/sys/fs/cgroup/tierlab"
SHELL = "/bin/sh"
COMMAND_SECONDS = 30.0
"""For a small command in a guest, whose processor may be emulated and contended."""
MOST_FILES = 65_536

_ENTER = """\
group=$1 folder=$2 log=$3 files=$4; shift 4
mkdir "$group" && echo $$ >"$group/cgroup.procs" && cd "$folder" || exit 125
ulimit -S -n "$files" || exit 125
[ -z "$log" ] || exec >>"$log" 2>&1 || exit 125
exec setsid "$@"
"""
"""Joins the group, then becomes the program, leader of a session."""

_END = """\
[ -d "$1" ] || exit 0
echo 1 >"$1/cgroup.kill"
while ! rmdir "$1" 2>/dev/null; do sleep 0.02; done
"""


class GuestProcess(Process):
    """A program that a guest's agent started."""

    def __init__(self, agent: GuestAgent, pid: int, group: str) -> None:
        self._agent = agent
        self._pid = pid
        self._group = group
        self._status: int | None = None
        self.output = ("", "")
        """What it wrote to its standard output and error, once it has ended; empty with a log."""

    @property
    def pid(self) -> int:
        """Process id, in the guest."""
        return self._pid

    @property
    def stdout(self) -> IO[bytes] | None:
        """None: it does not leave the guest but by a log."""
        return None

    def poll(self) -> int | None:
        """Ask the guest; with a guest that is gone, its programs were killed."""
        if self._status is None:
            try:
                ended = self._agent.ended(self._pid)
            except AgentGoneError:
                self._status = -SIGKILL
            except AgentSilentError:
                return None  # a guest that is only slow has not ended
            else:
                if ended is not None:
                    self._status = ended.status
                    self.output = (ended.stdout, ended.stderr)
        return self._status

    def signal(self, number: Signals) -> None:
        """Send a signal inside the guest, if it runs."""
        if self.poll() is None:
            self._agent.run(
                [SHELL, "-c", f'kill -{int(number)} "$1"', "kill", str(self._pid)], COMMAND_SECONDS
            )

    def members(self) -> list[int]:
        """List its control group."""
        return pids(self._agent, self._group)

    def stop(self, grace: float, first: Signals = SIGTERM) -> bool:
        """End it, and what it started, with its control group."""
        try:
            self.signal(first)
            gently = self.wait(grace) is not None
            self._agent.run([SHELL, "-c", _END, "end", self._group], COMMAND_SECONDS)
        except AgentSilentError:
            gently = False
        self.wait(KILL_SECONDS)
        return gently


def start(
    agent: GuestAgent,
    argv: Sequence[str],
    *,
    group: str,
    folder: str,
    log: str = "",
    env: Mapping[str, str] | None = None,
) -> GuestProcess:
    """Start a program in a new control group and a folder; with a log (a path), it has its words.

    `group` is the name of the control group, below `GROUPS`.
    """
    path = f"{GROUPS}/{group}"
    enter = [SHELL, "-c", _ENTER, "enter", path, folder, log, str(MOST_FILES)]
    return GuestProcess(agent, agent.start([*enter, *argv], env), path)


def pids(agent: GuestAgent, group: str) -> list[int]:
    """List the processes of a control group and of those below it; none if it is gone."""
    look = 'cat "$1"/cgroup.procs "$1"/*/cgroup.procs 2>/dev/null; true'
    done = agent.run([SHELL, "-c", look, "look", group], COMMAND_SECONDS)
    return sorted(map(int, done.stdout.split())) if done is not None else []
