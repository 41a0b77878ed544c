"""Programs of the kernel's, in its instructions: made, loaded, attached to a control group.

Sources: bpf(2); Documentation/bpf/standardization/instruction-set.rst of the Linux kernel.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct
from pathlib import Path

BPF_PROG_LOAD, BPF_PROG_ATTACH = 5, 8
ALLOW_MULTI = 2
SYSTEM_CALL = {"x86_64": 321, "aarch64": 280, "riscv64": 280, "ppc64le": 361, "s390x": 351}
"""Number of bpf(2), by architecture."""


def instruction(
    code: int, target: int = 0, source: int = 0, offset: int = 0, value: int = 0
) -> bytes:
    """Encode one, `struct bpf_insn`."""
    return struct.pack("=BBhi", code, source << 4 | target, offset, value)


def load(instructions: bytes, kind: int, at: int = 0) -> int:
    """A file descriptor of the program, of a type of ``enum bpf_prog_type``; OSError if the kernel
    refuses it. `at`: where it is to be attached, for the types that ask.
    """
    code = ctypes.create_string_buffer(instructions, len(instructions))
    licence = ctypes.create_string_buffer(b"Apache-2.0")
    return _bpf(
        BPF_PROG_LOAD,
        struct.pack(
            "=2I2Q44xI",
            kind,
            len(instructions) // 8,
            ctypes.addressof(code),
            ctypes.addressof(licence),
            at,
        ),
    )


def attach(group: Path, program: int, at: int) -> None:
    """Attach a program to a control group and close its descriptor; OSError if the kernel refuses.

    `at`: where, as ``enum bpf_attach_type`` has it.
    """
    try:
        folder = os.open(group, os.O_RDONLY | os.O_DIRECTORY)
        try:
            _bpf(BPF_PROG_ATTACH, struct.pack("=4I", folder, program, at, ALLOW_MULTI))
        finally:
            os.close(folder)
    finally:
        os.close(program)


def _bpf(command: int, attributes: bytes) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    # Attributes that are left off at the end are zero to the kernel.
    given = ctypes.create_string_buffer(attributes, len(attributes))
    number = SYSTEM_CALL.get(platform.machine(), -1)
    done: int = libc.syscall(ctypes.c_long(number), command, given, len(attributes))
    if done < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return done
