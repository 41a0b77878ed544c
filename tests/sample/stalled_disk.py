"""A disk of a test's own that can be made to stand still, in namespaces of its own.

Mount, loop device and network end with the last process in them: nothing is left behind, even by a
test that is killed.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.pace import wait_until

_HOLD = 'ip link set lo up && mount -o loop "$1" "$2" && echo ready && read -r _'
_STALL = 'fsfreeze --freeze "$1" && echo frozen && sleep "$2"; fsfreeze --unfreeze "$1"'


@dataclass(frozen=True)
class StalledDisk:
    """An ext4 at ``folder``, which only those see that are started by a command ``within``."""

    folder: Path
    holder: int

    def within(self, command: Sequence[str]) -> list[str]:
        """Return the command that runs another in the disk's namespaces."""
        return ["nsenter", f"--target={self.holder}", "--mount", "--net", *command]

    @property
    def seen_from_outside(self) -> Path:
        """The folder, for those that are not within."""
        return Path(f"/proc/{self.holder}/root{self.folder}")

    def stall(self, seconds: float) -> float:
        """Let nothing be written for a while; return how long a write took that came meanwhile.

        The thaw does not depend on the caller's life.
        """
        command = self.within(["sh", "-c", _STALL, "sh", str(self.folder), str(seconds)])
        with subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True) as stalling:
            assert stalling.stdout is not None
            assert stalling.stdout.readline() == b"frozen\n"
            began = time.monotonic()
            (self.seen_from_outside / "probe").write_text("written\n")
            took = time.monotonic() - began
        assert stalling.returncode == 0
        return took


@contextmanager
def stalled_disk(folder: Path) -> Iterator[StalledDisk]:
    """Make the disk's image and mount point in ``folder``; remove all but these at the end."""
    image, mounted = folder / "disk.img", folder / "disk"
    mounted.mkdir()
    with image.open("wb") as file:
        file.truncate(64 << 20)
    subprocess.run(["mkfs.ext4", "-q", str(image)], check=True)
    command = ["unshare", "--mount", "--net", "--propagation", "private", "sh", "-c", _HOLD, "sh"]
    with subprocess.Popen(
        [*command, str(image), str(mounted)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdin is not None
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"ready\n"
        yield StalledDisk(mounted, holder.pid)
        holder.stdin.close()
    wait_until(lambda: not _loop_devices(image), f"the end of the loop devices of {image}")


def _loop_devices(image: Path) -> str:
    command = ["losetup", "--associated", str(image)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout
