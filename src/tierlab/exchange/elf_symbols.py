"""Functions of an ELF file by where their code lies in it.

Source: the System V ABI's "Object Files"; a stripped file's symbols may lie in a file of their own,
by its build id (GDB's manual, "Debugging Information in Separate Files").
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from numpy.typing import NDArray

DEBUG = Path("/usr/lib/debug/.build-id")
_SYMBOL = np.dtype(
    [
        ("name", "<u4"),
        ("info", "u1"),
        ("other", "u1"),
        ("section", "<u2"),
        ("at", "<u8"),
        ("size", "<u8"),
    ]
)
_FUNCTIONS = (2, 10)
"""STT_FUNC, and STT_GNU_IFUNC."""


class Functions:
    """The functions of one file."""

    def __init__(self, path: Path) -> None:
        """Of a file that cannot be read, or is no 64-bit ELF, none is known."""
        self._segments: list[tuple[int, int, int]] = []
        self._symbols: NDArray[Any] = np.empty(0, _SYMBOL)
        self._names = b""
        try:
            with path.open("rb") as file:
                self._read(ELFFile(file))
        except (OSError, ELFError):
            return

    def _read(self, elf: ELFFile) -> None:
        if elf.elfclass != 64 or not elf.little_endian:
            return
        self._segments = [
            (part["p_offset"], part["p_filesz"], part["p_vaddr"] - part["p_offset"])
            for part in elf.iter_segments("PT_LOAD")
        ]
        if not self._take(elf, ".symtab") and not self._take_from_debug(elf):
            self._take(elf, ".dynsym")

    def _take_from_debug(self, elf: ELFFile) -> bool:
        note = elf.get_section_by_name(".note.gnu.build-id")
        identity = "" if note is None else note.data()[16:].hex()
        path = DEBUG / identity[:2] / f"{identity[2:]}.debug"
        if not identity or not path.exists():
            return False
        with path.open("rb") as file:
            return self._take(ELFFile(file), ".symtab")

    def _take(self, elf: ELFFile, name: str) -> bool:
        section = elf.get_section_by_name(name)
        if section is None:
            return False
        symbols = np.frombuffer(section.data(), _SYMBOL)
        is_function = np.isin(symbols["info"] & 0xF, _FUNCTIONS) & (symbols["section"] != 0)
        symbols = symbols[is_function]
        # Of several names for one place the first that others may use is taken, and the longest.
        order = np.lexsort((symbols["name"], symbols["info"] >> 4 == 0, symbols["at"]))
        self._symbols = symbols[order]
        self._names = elf.get_section(section["sh_link"]).data()
        return True

    def at(self, offset: int) -> str | None:
        """The function whose code is at that byte of the file; None if none is known to be."""
        for start, size, to_address in self._segments:
            if start <= offset < start + size:
                return self._at_address(offset + to_address)
        return None

    def _at_address(self, address: int) -> str | None:
        last = int(np.searchsorted(self._symbols["at"], address, "right")) - 1
        if last < 0:
            return None
        begins = self._symbols["at"][last]
        first = int(np.searchsorted(self._symbols["at"], begins, "left"))
        for symbol in self._symbols[first : last + 1]:
            # Code written in assembly may have no size: it ends where the next begins.
            if address < begins + symbol["size"] or symbol["size"] == 0:
                return self._name(int(symbol["name"]))
        return None

    def _name(self, at: int) -> str:
        return self._names[at : self._names.index(b"\0", at)].decode(errors="replace")


@cache
def functions(path: Path) -> Functions:
    """Of a file that does not change meanwhile."""
    return Functions(path)
