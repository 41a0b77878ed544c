"""Whether this machine's processors can run guests: found out by running one.

A `/dev/kvm` that exists may still not serve, as on a virtual machine whose own host passes on but a
part of it: a processor like this machine's, which guests are to have, cannot be made then.
"""

from __future__ import annotations

import subprocess
import tempfile
from functools import cache
from pathlib import Path

DEVICE = Path("/dev/kvm")
SECONDS = 10.0
ROM_BYTES = 1 << 16
RESET_VECTOR = ROM_BYTES - 16
"""Where an x86 processor begins: 16 bytes below the end of its ROM."""
SAY_IT = bytes.fromhex("b010 e6f4 f4")
"""mov al, 0x10; out 0xf4, al; hlt."""
SAID = 0x10 << 1 | 1
"""QEMU's exit status when 0x10 is written to its debug-exit device."""


@cache
def serves() -> bool:
    """Run a guest of three instructions; whether they were executed."""
    if not DEVICE.exists():
        return False
    rom = bytearray(ROM_BYTES)
    rom[RESET_VECTOR : RESET_VECTOR + len(SAY_IT)] = SAY_IT
    with tempfile.NamedTemporaryFile(suffix=".rom") as file:
        file.write(rom)
        file.flush()
        command = [
            *("qemu-system-x86_64", "-accel", "kvm", "-machine", "pc", "-m", "16"),
            *("-nodefaults", "-display", "none", "-no-reboot", "-bios", file.name),
            *("-cpu", "host", "-device", "isa-debug-exit,iobase=0xf4"),
        ]
        try:
            done = subprocess.run(
                command, capture_output=True, stdin=subprocess.DEVNULL, timeout=SECONDS, check=False
            )
        except (OSError, subprocess.TimeoutExpired):
            return False
    return done.returncode == SAID
