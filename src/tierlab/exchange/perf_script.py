"""What ``perf script`` prints: samples, each with the stack that it found (perf-script(1)).

A sample is a line such as ``httpd 12/14 [003] 5.000000001: 10101010 cpu-clock:`` with its function
behind it, or one frame a line below it, the innermost first. Which fields there are is up to who
had it printed; process, time and event have to be among them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

JIT = "[JIT]"
"""The binary of code that a runtime compiled while it ran."""

_HEAD = re.compile(
    r"""\s*(?:VM:\s*(?P<vm>\d+)\s+)?(?:VCPU:\s*(?P<vcpu>\d+)\s+)?
    (?P<comm>\S.*?)\s+(?P<pid>-?\d+)(?:/-?\d+)?\s+(?:\[(?P<cpu>\d+)\]\s+)?
    (?P<s>\d+)\.(?P<part>\d{6,9}):\s+(?P<rest>.*)""",
    re.VERBOSE,
)
_EVENT = re.compile(r"(?:(?P<period>\d+)\s+)?(?P<event>\S+):(?:\s+(?P<rest>.*))?$")
_FRAME = re.compile(r"\s*[0-9a-f]+\s+(?P<symbol>.*?)(?:\+0x[0-9a-f]+)? \((?P<binary>/.*|[^ ]*)\)$")
_FORK = re.compile(r"PERF_RECORD_FORK\((?P<child>\d+):\d+\):\((?P<parent>\d+):\d+\)")
_LOST = re.compile(r"PERF_RECORD_LOST\S* lost (?P<count>\d+)")
_REFERENCE = re.compile(r"# reference time: .* = (\d+)\.(\d+) \(TOD\) = (\d+)\.(\d+) \(\w+\)")
_PERF_MAP = re.compile(r"(?:.*/)?perf-\d+\.map")
_UNKNOWN = "[unknown]"
_INLINED = "inlined"
"""In the place of a binary: whose code the function has become part of is the next frame's."""
_DELETED = " (deleted))"


@dataclass(frozen=True)
class Frame:
    """A function and the file that it is of; None where perf knows it not."""

    symbol: str | None
    binary: str | None

    def __str__(self) -> str:
        return self.symbol or (f"[{self.binary.strip('[]')}]" if self.binary else _UNKNOWN)


@dataclass(frozen=True)
class Sample:
    """An event with its surroundings; ``t_ns`` is of the recording's clock."""

    comm: str
    pid: int
    cpu: int | None
    t_ns: int
    event: str
    period: int
    """How many events it stands for."""
    frames: tuple[Frame, ...] = ()
    """The innermost first; empty where none was recorded."""
    machine: int | None = None
    """The process of the virtual machine that it is from; None of this machine's."""
    vcpu: int | None = None


@dataclass(frozen=True)
class Fork:
    """A process that another one has started."""

    child: int
    parent: int
    t_ns: int
    """0 of one that was there before the recording, whose parent may be gone."""


@dataclass(frozen=True)
class Lost:
    """Events for which perf had no room."""

    count: int


@dataclass(frozen=True)
class Clock:
    """What is to be added to the recording's clock to have the time since the epoch."""

    offset_ns: int


Record = Sample | Fork | Lost | Clock


def records(lines: Iterable[str]) -> Iterator[Record]:
    """What lines say, in their order; others, such as a tracepoint's fields, are passed over."""
    head: Sample | None = None
    frames: list[Frame] = []
    for raw in lines:
        line = raw.rstrip()
        # A frame begins with a tab; where that is lost, what is no other record may be one.
        found = None if line.startswith("\t") else _record(line)
        if found is None:
            if head is not None and (frame := _frame(line)) is not None:
                frames.append(frame)
            continue
        if head is not None:
            yield replace(head, frames=_stack(frames)) if frames else head
        head, frames = None, []
        if isinstance(found, Sample):
            head = found
        else:
            yield found
    if head is not None:
        yield replace(head, frames=_stack(frames)) if frames else head


def _stack(frames: Sequence[Frame]) -> tuple[Frame, ...]:
    """The frames; an inlined one has the binary of the next outwards that is not inlined."""
    if all(frame.binary != _INLINED for frame in frames):
        return tuple(frames)
    found: list[Frame] = []
    binary = None
    for frame in reversed(frames):
        binary = binary if frame.binary == _INLINED else frame.binary
        found.append(Frame(frame.symbol, binary))
    return tuple(reversed(found))


def _record(line: str) -> Record | None:
    if (times := _REFERENCE.match(line)) is not None:
        day, day_part, own, own_part = times.groups()
        return Clock(_ns(day, day_part) - _ns(own, own_part))
    head = None if line.startswith("#") else _HEAD.match(line)
    if head is None:
        return None
    if (fork := _FORK.match(head["rest"])) is not None:
        return Fork(int(fork["child"]), int(fork["parent"]), _ns(head["s"], head["part"]))
    if (lost := _LOST.match(head["rest"])) is not None:
        return Lost(int(lost["count"]))
    event = _EVENT.match(head["rest"])
    if event is None or event["event"].startswith("PERF_RECORD_"):
        return None
    return _sample(head, event)


def _sample(head: re.Match[str], event: re.Match[str]) -> Sample:
    alone = _frame(event["rest"] or "")
    return Sample(
        comm=head["comm"],
        pid=int(head["pid"]),
        cpu=_number(head["cpu"]),
        t_ns=_ns(head["s"], head["part"]),
        event=event["event"],
        period=_number(event["period"]) or 1,
        frames=() if alone is None else _stack([alone]),
        machine=_number(head["vm"]),
        vcpu=_number(head["vcpu"]),
    )


@lru_cache(maxsize=100_000)
def _frame(line: str) -> Frame | None:
    if line.endswith(_DELETED):
        line = f"{line.removesuffix(_DELETED)})"
    found = _FRAME.match(line)
    if found is None:
        return None
    symbol, binary = found["symbol"].strip(), found["binary"]
    if _PERF_MAP.fullmatch(binary):
        # PHP puts its own word before each name.
        binary, symbol = JIT, symbol.removeprefix("JIT$")
    return Frame(_known(symbol), _known(binary))


def _known(name: str) -> str | None:
    return None if name in ("", _UNKNOWN) else name


def _number(digits: str | None) -> int | None:
    return None if digits is None else int(digits)


def _ns(seconds: str, part: str) -> int:
    """Of seconds with six or nine decimals."""
    return int(seconds) * 1_000_000_000 + int(part.ljust(9, "0"))
