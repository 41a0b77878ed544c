"""Functions in what ``perf script`` prints: lines of a stack, or the end of a sample's line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

JIT = "[JIT]"
"""The binary of code that a runtime compiled while it ran."""
INLINED = "inlined"
"""In the place of a binary: the function is part of the next one outwards."""

_UNKNOWN = "[unknown]"
_DELETED = re.compile(r" \(deleted\)(?=(?:\+0x[0-9a-f]+)?\)$)")
_OFFSET = re.compile(r"\+0x[0-9a-f]+$")
_JIT = re.compile(r"(?:.*/)?perf-\d+\.map|\[JIT\].*")
_FRAME = re.compile(r"(?P<start>\s*)(?P<ip>[0-9a-f]+)(?P<gap> +|$)(?P<rest>.*)")
_BINARY = r"/[^()]*(?: \(deleted\))?|\[[^\]()]*\][^()\s]*|//anon|anon|inlined"
_IN_LINE = re.compile(
    rf"(?:^|(?<=\s))(?P<ip>[0-9a-f]+)\s(?P<symbol>.*?)\s?\((?P<binary>{_BINARY})\)(?=\s|$)"
)
_ALONE = re.compile(r"[0-9a-f]{4,16} +(?P<symbol>[^\s(|].*\+0x[0-9a-f]+|\[unknown\])$")
_ADDRESS = re.compile(r"(?:(?<=\s\s)[0-9a-f]{4,16}|(?<=\s)[0-9a-f]{12,16})\s")
_BRANCH_TO = re.compile(r"\s+=>\s")


@dataclass(frozen=True)
class Frame:
    """A function and the file that it is of; None where perf knows it not."""

    symbol: str | None
    binary: str | None

    def __str__(self) -> str:
        return self.symbol or (f"[{self.binary.strip('[]')}]" if self.binary else _UNKNOWN)


@lru_cache(maxsize=100_000)
def stack_line(line: str) -> tuple[Frame, bool] | None:
    """Return the function that a line of a stack has, and whether the line names its binary; None
    if it is no such line.

    perf begins such a line with a tab. Without it, the line needs a binary to be known by.
    """
    found = _FRAME.fullmatch(line)
    if found is None:
        return None
    symbol, binary = _parted(found["rest"])
    if binary is None and "\t" not in found["start"]:
        return None
    return _frame(symbol, binary or ""), binary is not None


@lru_cache(maxsize=100_000)
def in_sample_line(text: str) -> Frame | None:
    """Return the function that stands behind the event in a sample's own line, if there is one.

    Before it may be a memory address with its own symbol, behind it branches, registers and
    instructions (`perf script -F +addr,+brstack,+iregs,+insn`).
    """
    text = _BRANCH_TO.split(text, maxsplit=1)[0]
    groups = list(_IN_LINE.finditer(text))
    if groups:
        symbol = groups[-1]["symbol"]
        for address in _ADDRESS.finditer(symbol):
            symbol = groups[-1]["symbol"][address.end() :]
        return _frame(symbol, groups[-1]["binary"])
    if (found := stack_line(f" {text}")) is not None and "|" not in (found[0].symbol or ""):
        return found[0]
    alone = _ALONE.match(text)
    return None if alone is None else _frame(alone["symbol"], "")


def stack(frames: Sequence[tuple[Frame, bool]]) -> tuple[Frame, ...]:
    """Return a stack, innermost first. An inlined function has the binary of the next one outwards
    that is not inlined; perf marks it `(inlined)`, or names no binary where it names others.
    """
    names_binaries = any(named for _, named in frames)
    found: list[Frame] = []
    binary = None
    for frame, named in reversed(frames):
        if frame.binary != INLINED and (named or not names_binaries):
            binary = frame.binary
        found.append(Frame(frame.symbol, binary))
    return tuple(reversed(found))


def _parted(rest: str) -> tuple[str, str | None]:
    """Return symbol and binary of `symbol (binary)`; the binary is None if there is none."""
    rest = _DELETED.sub("", rest)
    if not rest.endswith(")"):
        return rest, None
    depth = 0
    for at in range(len(rest) - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(rest[at], 0)
        if depth == 0:
            is_apart = at == 0 or rest[at - 1] == " "
            return (rest[:at], rest[at + 1 : -1]) if is_apart else (rest, None)
    at = rest.find(" (/")
    return (rest, None) if at < 0 else (rest[:at], rest[at + 2 : -1])


def _frame(symbol: str, binary: str) -> Frame:
    symbol = _OFFSET.sub("", symbol.strip())
    binary = _OFFSET.sub("", binary.removesuffix(" (deleted)"))
    if _JIT.fullmatch(binary):
        # PHP puts its own word before each name.
        binary, symbol = JIT, symbol.removeprefix("JIT$")
    return Frame(_known(symbol), _known(binary))


def _known(name: str) -> str | None:
    return None if name in ("", _UNKNOWN) else name
