"""The images that guests boot: what is in them, and where a built one lies.

An image is named by the hash of its recipe, so that another recipe is another image. All guests
share it: nothing in it is ever written to.
"""

from __future__ import annotations

import hashlib
import json
import platform
from dataclasses import asdict, dataclass
from importlib import resources
from pathlib import Path

from tierlab import installation
from tierlab.errors import UserError

PACKAGES = (
    *("apache2-bin", "haproxy", "mariadb-client-core", "mariadb-server-core"),
    "openjdk-17-jre-headless",
    *("catatonit", "iproute2", "qemu-guest-agent", "socat"),
)
"""Debian packages of a guest's root: the servers, and what a guest is run with."""

KERNEL_PACKAGES = ("linux-image-amd64", "busybox-static")
"""What the kernel, its modules and the programs of its first file system are taken from."""

MODULES = (
    "crc32c_generic",  # asked for by name, so that the list of needs does not have it
    *("virtio_pci", "virtio_blk", "virtio_net", "virtio_console", "virtio_balloon", "virtio-rng"),
    *("erofs", "overlay", "ext4", "9p", "9pnet_virtio"),
    # Who samples sockets asks by these, and a guest has no modules to load later.
    *("tcp_diag", "udp_diag", "unix_diag"),
)
"""Modules of the kernel that a guest has, with all that they need; it loads no others."""

BARE_KERNEL, INITRAMFS = "/boot/vmlinux", "/boot/initramfs"
"""In the root of an image with a hypervisor: what its host starts further domains with."""

MACHINE = "x86_64"
SUITE = "bookworm"
"""Debian 12, whatever the host runs."""


@dataclass(frozen=True)
class Recipe:
    """All that an image is made from, but for the versions that the archive has at the time."""

    packages: tuple[str, ...] = PACKAGES
    """None where the root is not the image's: it is a kernel with its first file system then."""
    kernel_packages: tuple[str, ...] = KERNEL_PACKAGES
    modules: tuple[str, ...] = MODULES
    suite: str = SUITE
    machine: str = MACHINE
    init: str = resources.files(__package__).joinpath("guest_init.sh").read_text()
    """The guest's first program."""
    hypervisor: str | None = None
    """File, in its package, of the hypervisor that boots below the kernel; None for guests of this
    host's own."""
    layout: int = 2
    """Counts how the builder lays the parts out."""

    @property
    def key(self) -> str:
        """Name of the image."""
        return hashlib.sha256(json.dumps(asdict(self)).encode()).hexdigest()[:16]


GUEST = Recipe()
"""For guests of this host's own."""

XEN_VERSION = "4.17"
XEN = Recipe(
    packages=(
        *PACKAGES,
        *(f"xen-utils-{XEN_VERSION}", "xenstore-utils", "qemu-system-xen", "e2fsprogs"),
    ),
    kernel_packages=(*KERNEL_PACKAGES, f"xen-hypervisor-{XEN_VERSION}-amd64"),
    modules=(
        *MODULES,
        *("xen-evtchn", "xen-gntdev", "xen-privcmd", "xenfs"),
        *("xen-blkback", "xen-netback", "bridge"),
        *("xen-blkfront", "xen-netfront", "9pnet_xen"),
    ),
    hypervisor=f"boot/xen-{XEN_VERSION}-amd64.gz",
)
"""For a host that runs Xen, and for the domains on it, which have the same root and kernel."""

RECIPES = {"guest": GUEST, "xen": XEN}
"""By what boots them."""


@dataclass(frozen=True)
class Image:
    """A built image; `folder` holds its parts."""

    folder: Path

    @property
    def kernel(self) -> Path:
        """Linux, as the hypervisor loads it."""
        return self.folder / "vmlinuz"

    @property
    def initramfs(self) -> Path:
        """The kernel's first file system (cpio)."""
        return self.folder / "initramfs"

    @property
    def root(self) -> Path:
        """The guests' root file system (EROFS), read-only."""
        return self.folder / "root.erofs"

    @property
    def hypervisor(self) -> Path:
        """Xen, unpacked; only where the recipe has it."""
        return self.folder / "xen"

    @property
    def bare_kernel(self) -> Path:
        """Linux unpacked, as Xen loads it; in the root it is `BARE_KERNEL`."""
        return self.folder / "vmlinux"

    @property
    def record(self) -> Path:
        """What it was made from: the recipe, and each package's version (JSON)."""
        return self.folder / "image.json"


def cache_folder() -> Path:
    """``$XDG_CACHE_HOME/tierlab/images``, by default below ``~/.cache``."""
    return installation.cache("images")


def place(recipe: Recipe) -> Image:
    """Where the image of a recipe lies, built or not."""
    return Image(cache_folder() / recipe.key)


def find(name: str) -> Image:
    """Find the image of a recipe (of `RECIPES`); `UserError` if it is not built."""
    if platform.machine() != MACHINE:
        raise UserError(f"guests are {MACHINE} machines, and this is a {platform.machine()}.")
    image = place(RECIPES[name])
    if not image.folder.exists():
        raise unbuilt(name)
    return image


def unbuilt(name: str) -> UserError:
    """Say how to build what is not there."""
    return UserError(
        f"its guests' image is not built yet; build it with 'tierlab image build {name}'."
    )
