"""Makes a virtual machine that never runs, and becomes a command; it is there as long as that is.

KVM switches code of the kernel's scheduler on with the first virtual machine and off with the last.
Emulated processors (QEMU 7.2) now and then miss that it was rewritten and never get out of it: a
host that made and unmade some hundred of them stood still.
"""

from __future__ import annotations

import fcntl
import os
import sys

from tierlab.machine.probes.hypervisor import KVM_CREATE_VM

if __name__ == "__main__":
    machine = fcntl.ioctl(os.open("/dev/kvm", os.O_RDWR | os.O_CLOEXEC), KVM_CREATE_VM, 0)
    os.set_inheritable(machine, True)
    os.execvp(sys.argv[1], sys.argv[1:])
