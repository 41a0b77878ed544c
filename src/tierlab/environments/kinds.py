"""The kinds of environment by name, each loaded when it is asked for.

What speaks to Docker, libvirt or a vCenter takes longer to load than a trial in processes needs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from types import MappingProxyType

from tierlab.environments.native.host import HostEnvironment

PLACES: Mapping[str, str] = MappingProxyType(
    {
        "native": "native.native:Native",
        "host": "native.host_network:HostNetwork",
        "podman": "containers.podman:Podman",
        "docker": "containers.docker:Docker",
        "lxc": "containers.lxc:Lxc",
        "qemu": "qemu.environment:Qemu",
        "xen": "xen.environment:Xen",
        "vsphere": "vsphere.environment:Vsphere",
    }
)
"""By name: the module in this package, and the class in it."""


class Kinds(Mapping[str, type[HostEnvironment]]):
    """The classes by the name that experiment files call them by."""

    def __getitem__(self, name: str) -> type[HostEnvironment]:
        module, _, kind = PLACES[name].partition(":")
        found: type[HostEnvironment] = getattr(import_module(f"{__package__}.{module}"), kind)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(PLACES)

    def __len__(self) -> int:
        return len(PLACES)


KINDS = Kinds()
