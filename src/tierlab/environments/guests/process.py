"""Programs of a trial inside a guest, each in a control group of its own there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from signal import SIGKILL

from tierlab.environments.guests.agent import AgentGoneError, AgentSilentError, GuestAgent
from tierlab.environments.guests.remote_process import SHELL, RemoteProcess
from tierlab.environments.process import MOST_FILES

GROUPS = "/sys/fs/cgroup/tierlab"
COMMAND_SECONDS = 30.0
"""For a small command in a guest, whose processor may be emulated and contended."""

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


class GuestProcess(RemoteProcess):
    """A program that a guest's agent started."""

    unanswered = AgentSilentError

    def __init__(self, agent: GuestAgent, pid: int, group: str) -> None:
        super().__init__(pid)
        self._agent = agent
        self._group = group
        self.output = ("", "")
        """What it wrote to its standard output and error, once it has ended; empty with a log."""

    def members(self) -> list[int]:
        """List its control group."""
        return pids(self._agent, self._group)

    def _ended(self) -> int | None:
        try:
            ended = self._agent.ended(self._pid)
        except AgentGoneError:
            return -SIGKILL
        except AgentSilentError:
            return None  # a guest that is only slow has not ended
        if ended is None:
            return None
        self.output = (ended.stdout, ended.stderr)
        return ended.status

    def _have_run(self, argv: Sequence[str]) -> None:
        self._agent.run(argv, COMMAND_SECONDS)

    def _end_members(self) -> None:
        """With its control group."""
        self._have_run([SHELL, "-c", _END, "end", self._group])


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
