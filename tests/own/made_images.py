"""Container images made of this machine's own programs, without a network, and removed again."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

PASSWD = "root:x:0:0::/root:/bin/sh\nshop:x:1234:1234::/home/shop:/bin/sh\n"
PREFIX = f"localhost/tierlab-test-{os.getpid()}"
"""Of the images' names; tests may run beside each other."""


def image_name(name: str) -> str:
    return f"{PREFIX}-{name}"


@contextmanager
def made_image(
    name: str,
    place: Path,
    *,
    programs: Sequence[str] = (),
    trees: Mapping[str, Path] = {},
    lines: Sequence[str] = (),
) -> Iterator[str]:
    """An image with programs and the libraries that they need, trees by their place in it, and
    lines of a Containerfile; by its name, until the context ends.
    """
    root = place / name
    (root / "etc").mkdir(parents=True)
    (root / "tmp").mkdir()
    (root / "tmp").chmod(0o1777)
    (root / "etc" / "passwd").write_text(PASSWD)
    (root / "etc" / "group").write_text("root:x:0:\nshop:x:1234:\n")
    for program in programs:
        path = Path(shutil.which(program) or program)
        for needed in (path, *libraries(path)):
            lay(needed, root)
    for target, tree in trees.items():
        copy = root / target.lstrip("/")
        copy.parent.mkdir(parents=True, exist_ok=True)
        if tree.is_dir():
            shutil.copytree(tree, copy, ignore_dangling_symlinks=True)
        else:
            shutil.copy(tree, copy)
    (root.parent / f"{name}.file").write_text("\n".join(["FROM scratch", "COPY . /", *lines]))
    tag = image_name(name)
    podman("build", "--quiet", "--network=none", f"--tag={tag}", f"--file={root}.file", str(root))
    shutil.rmtree(root)
    try:
        yield tag
    finally:
        podman("rmi", "--force", tag)


def podman(*arguments: str) -> str:
    done = subprocess.run(["podman", *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def libraries(program: Path) -> list[Path]:
    """What a program is linked to, and its loader."""
    said = subprocess.run(["ldd", program], capture_output=True, text=True, check=False).stdout
    words = (word for line in said.splitlines() for word in line.split())
    return [Path(word) for word in words if word.startswith("/")]


def lay(file: Path, root: Path) -> None:
    """Copy a file to its own place."""
    target = root / str(file).lstrip("/")
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(file, target)
