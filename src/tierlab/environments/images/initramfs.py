"""The first file system of a guest's kernel: busybox, the modules and the first program.

Format "newc": Documentation/driver-api/early-userspace/buffer-format.rst of the Linux kernel.
"""

from __future__ import annotations

import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from tierlab.errors import UserError

FOLDERS = ("bin", "dev", "modules", "proc", "root", "sys")
APPLETS = (
    *("cat", "chmod", "echo", "insmod", "ip", "mkdir", "mount", "sh", "sleep", "switch_root"),
    "[",
)
"""Programs of busybox that the first program calls."""


def pack(target: Path, tree: Path, modules: Iterable[str], init: str) -> None:
    """Write it; `tree` is the unpacked kernel packages and busybox; same input, same bytes."""
    release = next((tree / "lib/modules").iterdir())
    wanted = in_order(release / "modules.dep", modules)
    names = [Path(path).name for path in wanted]
    entries: list[tuple[str, int, bytes]] = [
        *((name, stat.S_IFDIR | 0o755, b"") for name in FOLDERS),
        ("bin/busybox", stat.S_IFREG | 0o755, (tree / "bin/busybox").read_bytes()),
        *((f"bin/{name}", stat.S_IFLNK | 0o777, b"busybox") for name in APPLETS),
        *(
            (f"modules/{name}", stat.S_IFREG | 0o644, (release / path).read_bytes())
            for name, path in zip(names, wanted, strict=True)
        ),
        ("modules/order", stat.S_IFREG | 0o644, "".join(f"{n}\n" for n in names).encode()),
        ("init", stat.S_IFREG | 0o755, init.encode()),
    ]
    target.write_bytes(b"".join(_archive(entries)))


def with_program(target: Path, archive: Path, name: str, script: str) -> None:
    """Write one with a program more at its top: the kernel unpacks archives one after the other."""
    more = _archive([(name, stat.S_IFREG | 0o755, script.encode())])
    target.write_bytes(archive.read_bytes() + b"".join(more))


def in_order(dependencies: Path, wanted: Iterable[str]) -> list[str]:
    """Paths of modules, each after those it needs, from modules.dep(5); without what is built in.

    `UserError` for a module that this kernel does not have at all.
    """
    needs = _needs(dependencies)
    paths = {_name(path): path for path in needs}
    built_in = (dependencies.parent / "modules.builtin").read_text().split()
    present = {_name(path) for path in built_in}
    order: dict[str, None] = {}
    for name in map(_plain, wanted):
        if name in paths:
            # The file lists them from the outermost to the innermost.
            order.update(dict.fromkeys([*reversed(needs[paths[name]]), paths[name]]))
        elif name not in present:
            raise UserError(f"the guests' kernel has no module {name}; leave it out of the recipe.")
    return list(order)


def _needs(dependencies: Path) -> Mapping[str, list[str]]:
    lines = (line.partition(":") for line in dependencies.read_text().splitlines())
    return {path: needed.split() for path, _, needed in lines}


def _name(path: str) -> str:
    return _plain(Path(path).name.partition(".")[0])


def _plain(name: str) -> str:
    """The kernel takes a dash in a module's name for an underscore."""
    return name.replace("-", "_")


def _archive(entries: Iterable[tuple[str, int, bytes]]) -> Iterator[bytes]:
    for number, (name, mode, content) in enumerate(entries, 1):
        yield _entry(number, name, mode, content)
    yield _entry(0, "TRAILER!!!", 0, b"")


def _entry(number: int, name: str, mode: int, content: bytes) -> bytes:
    spelled = name.encode() + b"\0"
    fields = (number, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(spelled), 0)
    head = b"070701" + b"".join(b"%08X" % value for value in fields) + spelled
    return _padded(head) + _padded(content)


def _padded(part: bytes) -> bytes:
    return part + b"\0" * (-len(part) % 4)
