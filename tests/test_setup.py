"""What the scripts of set-up say where something is missing."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]


def said(folder: Path, programs: Mapping[str, str], *command: str, path: str = "") -> str:
    """What a script says before it fails, where programs are these (what each does) and those of
    `path`.
    """
    for name, does in programs.items():
        (folder / name).write_text(f"#!/bin/sh\n{does}\n")
        (folder / name).chmod(0o755)
    done = subprocess.run(
        ["/bin/sh", *command],
        cwd=ROOT,
        env={"PATH": f"{folder}{path}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    return done.stderr


def test_without_a_c_compiler_nothing_is_built(tmp_path: Path) -> None:
    there = dict.fromkeys(("cargo", "javac", "mvn", "python3", "awk"), "exit 0")

    assert said(tmp_path, there, "setup/check-tools.sh") == (
        "setup: this machine lacks: a C compiler (gcc and libc6-dev). Install that and repeat.\n"
    )


def test_who_is_not_root_is_told_how_packages_come_without_their_services(tmp_path: Path) -> None:
    packages = tmp_path / "packages.txt"
    packages.write_text("haproxy\njq\n")
    there = {"dpkg-query": "exit 1", "apt-get": "exit 0", "id": "echo 1000"}
    command = ("setup/apt.sh", str(packages))

    assert said(tmp_path, there, *command, path=":/usr/bin:/bin") == (
        "setup: packages are missing: haproxy jq. Install them, without starting their services:"
        f" sudo setup/apt.sh {packages}\n"
    )
