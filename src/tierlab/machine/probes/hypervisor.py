"""Does /dev/kvm serve a guest? A file that exists may not, so one is run: a single `hlt`.

That is necessary, not sufficient: some nested hypervisors run this guest and no larger one.

Kernel document virt/kvm/api. Structures: `struct kvm_userspace_memory_region`, `kvm_sregs` (`cs` is
its first member), `kvm_regs` (`rip` and `rflags` are its last two) and `kvm_run` of x86.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import mmap
import os
import platform
import struct
from collections.abc import Iterator
from pathlib import Path

from tierlab.machine.attempt import attempt
from tierlab.machine.check import Check, Verdict

GROUP = "environments"
KVM_CREATE_VM = 0xAE01
KVM_GET_VCPU_MMAP_SIZE = 0xAE04
KVM_CREATE_VCPU = 0xAE41
KVM_SET_USER_MEMORY_REGION = 0x4020_AE46
KVM_RUN = 0xAE80
KVM_SET_REGS = 0x4090_AE82
KVM_GET_SREGS = 0x8138_AE83
KVM_SET_SREGS = 0x4138_AE84
KVM_EXIT_HLT = 5
ENTRY = 0x1000
PARAVIRTUAL = Path("/sys/module/kvm_pvm")
"""A KVM that needs no hardware, and runs kernels that are made for it and no others."""


def checks() -> Iterator[Check]:
    """KVM; the other environments are probed where they are made."""
    failure = attempt(_run_a_guest)
    if failure is None:
        yield Check(
            GROUP,
            "KVM",
            Verdict.PARTLY,
            "a guest of one instruction ran; an operating system was not started",
        )
        return
    yield Check(
        GROUP,
        "KVM",
        Verdict.MISSING,
        failure,
        "virtual machines at full speed: they are emulated instead, 10 to 30 times slower",
        "run as root or in group kvm"
        if failure == os.strerror(errno.EACCES)
        else "a machine with hardware virtualisation, or nested virtualisation switched on",
    )


def _run_a_guest() -> None:
    if PARAVIRTUAL.exists():
        raise OSError(0, "this machine's KVM (PVM) runs only kernels that are made for it")
    if platform.machine() != "x86_64":
        raise OSError(0, f"not tried on {platform.machine()}")
    kvm = os.open("/dev/kvm", os.O_RDWR | os.O_CLOEXEC)
    machine = fcntl.ioctl(kvm, KVM_CREATE_VM, 0)
    memory = mmap.mmap(-1, mmap.PAGESIZE)
    memory[:1] = b"\xf4"  # hlt
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    region = struct.pack("=IIQQQ", 0, 0, ENTRY, mmap.PAGESIZE, address)
    fcntl.ioctl(machine, KVM_SET_USER_MEMORY_REGION, region)
    cpu = fcntl.ioctl(machine, KVM_CREATE_VCPU, 0)
    state = mmap.mmap(cpu, fcntl.ioctl(kvm, KVM_GET_VCPU_MMAP_SIZE, 0))
    segments = bytearray(fcntl.ioctl(cpu, KVM_GET_SREGS, bytes(0x138)))
    struct.pack_into("=QIH", segments, 0, 0, 0xFFFF, 0)  # cs: base 0, limit, selector 0
    fcntl.ioctl(cpu, KVM_SET_SREGS, bytes(segments))
    registers = bytes(16 * 8) + struct.pack("=QQ", ENTRY, 2)
    fcntl.ioctl(cpu, KVM_SET_REGS, registers)
    fcntl.ioctl(cpu, KVM_RUN, 0)
    (reason,) = struct.unpack_from("=I", state, 8)
    if reason != KVM_EXIT_HLT:
        raise OSError(0, f"the guest did not run: it left with reason {reason}")
