"""Building a guests' image: Debian packages of this machine's own archives, and a kernel.

The same packages give the same bytes: times are those of the recipe, and what an installation
draws or notes down (keys, identities, logs, caches) is taken out. It is built in a folder that the
ledger lists and appears in the cache by a rename: never half an image.
"""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

from tierlab.environments.files import make_folder
from tierlab.environments.images import initramfs, kernel_payload
from tierlab.environments.images import sources as image_sources
from tierlab.environments.images.image import BARE_KERNEL, INITRAMFS, Image, Recipe, place
from tierlab.environments.launching import run_to_end
from tierlab.environments.ledger import Ledger
from tierlab.environments.process import Launch
from tierlab.environments.removal import remove_listed
from tierlab.errors import UserError
from tierlab.machine.programs import SYSTEM_PATH, locate

EPOCH = 1_686_355_200
"""Day of Debian 12's release: the time of every file in the image (seconds)."""
UUID = "00000000-0000-4000-8000-7469657261b5"
SECONDS = 900.0
LAST_LINES = 4
"""Of a program that failed: the very last is rarely the reason."""
PROGRAMS = {"mmdebstrap": "mmdebstrap", "mkfs.erofs": "erofs-utils"}
"""What builds an image, and the Debian packages that bring it."""

WITHOUT = (
    "/usr/share/doc/*",
    "/usr/share/man/*/*",  # its folders stay: Java's set-up puts links there
    "/usr/share/info/*",
    "/usr/share/locale/*",
    "/usr/share/lintian/*",
)
UNSAFE = "--dpkgopt=force-unsafe-io"
"""dpkg waits for the disk after no file (3.7 ms each in a virtual machine): of an image that is not
whole nothing is kept."""
LITTER = (
    *("etc/machine-id", "etc/hostname", "etc/resolv.conf", "var/lib/dbus/machine-id"),
    *("etc/apt/sources.list", "etc/apt/apt.conf.d/99mmdebstrap"),
    *("var/cache/*", "var/log/*", "var/lib/dpkg/*-old"),
    # Java's list of authorities bears the time of its making; no server speaks TLS.
    "etc/ssl/certs/java/cacerts",
    *("etc/*-", "etc/ssl/private/*", "tmp/*", "var/tmp/*", "run/*"),
)
"""What an installation leaves of the machine that it ran on, and of its time."""


GONE = ("var/cache/apt", "var/lib/apt")
"""Folders whose owner depends on how apt came to run."""


def build(recipe: Recipe, say: Callable[[str], None]) -> Image:
    """Build the image of a recipe unless it is there; `say` is told what is being done.

    `UserError` if it cannot be built; nothing is left of it then.
    """
    image = place(recipe)
    if image.folder.exists():
        return image
    missing = [package for name, package in PROGRAMS.items() if locate(name) is None]
    if missing:
        raise UserError(
            f"an image cannot be built without {' and '.join(missing)};"
            f" install with 'apt-get install {' '.join(missing)}'."
        )
    image.folder.parent.mkdir(parents=True, exist_ok=True)
    ledger = Ledger(f"image-{recipe.key}")
    try:
        partial = image.folder.with_name(f".{recipe.key}")
        make_folder(ledger, partial)
        _Builder(ledger, recipe, partial, say).build()
        (partial / "image").rename(image.folder)
    finally:
        left = remove_listed(ledger)
        ledger.close()
    if left:
        raise UserError(f"{'; '.join(left)}; 'tierlab clean' tries again.")
    return image


class _Builder:
    def __init__(
        self, ledger: Ledger, recipe: Recipe, folder: Path, say: Callable[[str], None]
    ) -> None:
        self._ledger, self._recipe, self._folder, self._say = ledger, recipe, folder, say

    def build(self) -> None:
        recipe, root, tree = self._recipe, self._folder / "root", self._folder / "kernel"
        image = Image(self._folder / "image")
        image.folder.mkdir()
        self._say("kernel")
        self._add_kernel(image, tree)
        made_of: dict[str, object] = {"recipe": asdict(recipe)}
        if recipe.packages:
            self._say("servers")
            self._debian(root, recipe.packages, ["--variant=minbase", UNSAFE, *self._trimmed()])
            made_of["versions"] = _versions(root)
            if recipe.hypervisor is not None:
                self._add_hypervisor(image, tree / recipe.hypervisor, root)
            self._say("file system")
            _sweep(root)
            when = ["-T", str(EPOCH), "-U", UUID]
            self._run(["mkfs.erofs", "--quiet", *when, str(image.root), str(root)])
        image.record.write_text(json.dumps(made_of, indent=1, sort_keys=True) + "\n")

    def _add_kernel(self, image: Image, tree: Path) -> None:
        """With its first file system."""
        recipe = self._recipe
        self._debian(tree, recipe.kernel_packages, ["--variant=extract"])
        kernel = next((tree / "boot").glob("vmlinuz-*"))
        # An unpacked kernel package is not set up: which module needs which is not written yet.
        self._run(["chroot", str(tree), "depmod", kernel.name.removeprefix("vmlinuz-")])
        kernel.rename(image.kernel)
        initramfs.pack(image.initramfs, tree, recipe.modules, recipe.init)

    def _add_hypervisor(self, image: Image, packed: Path, root: Path) -> None:
        """Unpack it, and the kernel, which is then also in the root for further domains."""
        image.hypervisor.write_bytes(gzip.decompress(packed.read_bytes()))
        image.bare_kernel.write_bytes(kernel_payload.unpacked(image.kernel.read_bytes()))
        for part, path in ((image.bare_kernel, BARE_KERNEL), (image.initramfs, INITRAMFS)):
            shutil.copyfile(part, root / path.lstrip("/"))

    def _debian(self, target: Path, packages: Sequence[str], options: Sequence[str]) -> None:
        """Put packages, and all that they need, into a folder."""
        proxies = [f"--aptopt={line}" for line in image_sources.proxy_options()]
        self._run(
            [
                *("mmdebstrap", "--mode=root", "--format=directory"),
                *(*options, *proxies, f"--include={','.join(packages)}"),
                *(self._recipe.suite, str(target)),
                *image_sources.sources(self._recipe.suite),
            ]
        )

    def _trimmed(self) -> list[str]:
        return [f"--dpkgopt=path-exclude={pattern}" for pattern in WITHOUT]

    def _run(self, argv: Sequence[str]) -> None:
        """Run a step in a mount namespace of its own: what it mounts goes with it."""
        launch = Launch(
            argv,
            self._ledger.token,
            prefix=["unshare", "--mount", "--propagation=private", "--"],
            env={
                "PATH": SYSTEM_PATH,
                "SOURCE_DATE_EPOCH": str(EPOCH),
                "TMPDIR": str(self._folder),
                "LC_ALL": "C.UTF-8",
            },
        )
        done = run_to_end(self._ledger, launch, SECONDS)
        if done is None:
            raise UserError(f"'{argv[0]}' did not end within {SECONDS:g} seconds.")
        if done.status != 0:
            last = (done.stderr.strip() or done.stdout.strip()).splitlines()[-LAST_LINES:]
            raise UserError(f"'{argv[0]}' failed: {' | '.join(last) or 'it said nothing'}.")


def _versions(root: Path) -> dict[str, str]:
    """The version of every package in a root, from dpkg's own list."""
    found, name = {}, ""
    for line in (root / "var/lib/dpkg/status").read_text().splitlines():
        key, _, value = line.partition(": ")
        if key == "Package":
            name = value
        elif key == "Version":
            found[name] = value
    return found


def _sweep(root: Path) -> None:
    """Take out what differs between two installations of the same packages."""
    for name in GONE:
        shutil.rmtree(root / name)
    for pattern in LITTER:
        for path in sorted(root.glob(pattern)):
            if path.is_dir() and not path.is_symlink():
                _empty(path)
            else:
                path.unlink()


def _empty(folder: Path) -> None:
    """Delete the files below a folder; the folders stay, since services expect theirs."""
    for path in folder.rglob("*"):
        if not path.is_dir() or path.is_symlink():
            path.unlink()
