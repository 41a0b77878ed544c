"""Whether this machine's processors can run guests: found out by running one.

A `/dev/kvm` that exists may still not serve, as on a virtual machine whose own host passes on but a
part of it: a processor like this machine's, which guests are to have, cannot be made then, or a
guest runs no further than its first, 16-bit instructions.
"""

from __future__ import annotations

import subprocess
import tempfile
from functools import cache
from pathlib import Path

from tierlab.machine.probes.hypervisor import PARAVIRTUAL

DEVICE = Path("/dev/kvm")
SECONDS = 10.0
ROM_BYTES = 1 << 16
TO_LONG_MODE = bytes.fromhex(
    "fa ea060000f0"  # cli; ljmp $0xf000, $6: below 1 MiB, where the ROM is too
    "31c0 8ed8"  # xor %ax, %ax; mov %ax, %ds
    "66c706001003200000"  # movl $0x2003, 0x1000: three levels of page tables,
    "66c706002003300000"  # movl $0x3003, 0x2000
    "66c706003083000000"  # movl $0x83, 0x3000: 2 MiB that are where they are
    "2e660f01168000"  # lgdtl %cs:0x80
    "0f20e0 0c20 0f22e0"  # mov %cr4, %eax; or $0x20, %al; mov %eax, %cr4: PAE
    "66b800100000 0f22d8"  # mov $0x1000, %eax; mov %eax, %cr3
    "66b9800000c0 0f32 80cc01 0f30"  # mov $0xc0000080, %ecx; rdmsr; or $1, %ah; wrmsr: EFER.LME
    "66b801000080 0f22c0"  # mov $0x80000001, %eax; mov %eax, %cr0: paging, protected
    "66ea5b000f000800"  # ljmpl $8, $0xf005b
    "b900000004"  # mov $1 << 26, %ecx
    "ffc9 75fc"  # 1: dec %ecx; jnz 1b: an instruction emulator would take minutes
    "b010 e6f4 f4"  # mov $0x10, %al; out %al, $0xf4; hlt
    "0f1f8000000000"  # up to a multiple of eight
    "0000000000000000 00000000009a2000"  # the descriptors: none, and 64-bit code
    "0f00 70000f00"  # the table's length and place
)
"""From the first instruction to 64-bit code, as an operating system goes, and a loop there (Intel,
Software Developer's Manual, volume 3A, "Initializing IA-32e Mode")."""
RESET = ROM_BYTES - 16, bytes.fromhex("e90d00")
"""Where an x86 processor begins, 16 bytes below the end of its ROM: a jump to the ROM's first."""
SAID = 0x10 << 1 | 1
"""QEMU's exit status when 0x10 is written to its debug-exit device."""


@cache
def serves() -> bool:
    """Whether a guest gets as far as an operating system's first steps, at a processor's pace."""
    return DEVICE.exists() and not PARAVIRTUAL.exists() and runs("kvm", "host")


def runs(accelerator: str, processor: str) -> bool:
    """Run a guest that goes to 64-bit mode, counts, and says so; whether it did in time."""
    rom = bytearray(ROM_BYTES)
    for at, code in ((0, TO_LONG_MODE), RESET):
        rom[at : at + len(code)] = code
    with tempfile.NamedTemporaryFile(suffix=".rom") as file:
        file.write(rom)
        file.flush()
        command = [
            *("qemu-system-x86_64", "-accel", accelerator, "-machine", "pc", "-m", "16"),
            *("-nodefaults", "-display", "none", "-no-reboot", "-bios", file.name),
            *("-cpu", processor, "-device", "isa-debug-exit,iobase=0xf4"),
        ]
        try:
            done = subprocess.run(
                command, capture_output=True, stdin=subprocess.DEVNULL, timeout=SECONDS, check=False
            )
        except (OSError, subprocess.TimeoutExpired):
            return False
    return done.returncode == SAID
