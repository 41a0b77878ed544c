"""Small C programs, emulated by QEMU in user mode with the simulated cache."""

from __future__ import annotations

import shutil
import subprocess
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tierlab.exchange.cache_counts import rows

EMULATOR = "qemu-x86_64"
NEEDS_EMULATOR = pytest.mark.skipif(
    shutil.which(EMULATOR) is None, reason="needs qemu-x86_64 (qemu-user)"
)
SOURCES = Path(__file__).parent
Row = Mapping[str, Any]


def compiled(name: str, folder: Path) -> Path:
    program = folder / name
    source = SOURCES / f"{name}.c"
    subprocess.run(["cc", "-O1", "-g", "-pthread", "-o", program, source], check=True)
    return program


def started(plugin: str, program: Path, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [EMULATOR, "-plugin", plugin, program, *words], stdout=subprocess.PIPE, text=True
    )


def counted(plugin: str, out: Path, program: Path, *words: str) -> list[Row]:
    with started(plugin, program, *words) as running:
        running.communicate()
    assert running.returncode == 0
    return list(rows(out, "alone"))


def total(found: Iterable[Row], event: str) -> int:
    return sum(row["count"] for row in found if row["event"] == event)


def by_symbol(found: Iterable[Row], event: str) -> Counter[str | None]:
    counts = Counter[str | None]()
    for row in found:
        if row["event"] == event:
            counts[row["symbol"]] += row["count"]
    return counts
