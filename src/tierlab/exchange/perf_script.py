"""What ``perf script`` prints: samples, each with the stack that it found (perf-script(1)).

A sample is a line such as ``httpd 12/14 [003] 5.000000001: 10101010 cpu-clock:`` with its function
behind it, or one frame a line below it, the innermost first. Which fields there are is up to who
had it printed; process, time and event have to be among them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from tierlab.exchange.perf_frame import INLINED, Frame, in_sample_line, stack, stack_line

HAS_TIME = re.compile(r"(?:^|\s)\d+\.\d{6,9}:(?:\s|$)")
"""A sample's time, somewhere in a line."""

_HEAD = re.compile(
    r"""\s*(?:VM:\s*(?P<vm>\d+)\s+)?(?:VCPU:\s*(?P<vcpu>\d+)\s+)?
    (?:(?P<comm>\S.*?)\s+)?(?P<pid>-?\d+)(?:/-?\d+)?\s+(?:\[(?P<cpu>\d+)\]\s+)?
    (?:(?!\d+\s)[\w.\#]{1,6}\s+)?             # of +misc, or of --Latency
    (?:\d{4}-\d\d-\d\d\s+[\d:]{8}\.\d+:?\s+)? # of +tod
    (?P<s>\d+)\.(?P<part>\d{6,9}):(?:\s+(?P<rest>.*))?""",
    re.VERBOSE,
)
_EVENT = re.compile(
    r"(?:(?P<period>\d+)\s+)?(?P<event>[\w.-]+/[^/]*/\S*?|\S.*?):(?:\s+(?P<rest>.*))?$"
)
_IS_TRACEPOINT = re.compile(r"\w+:\w+")
_FORK = re.compile(r"PERF_RECORD_FORK\((?P<child>\d+):\d+\):\((?P<parent>\d+):\d+\)")
_LOST = re.compile(r"PERF_RECORD_LOST\S* lost (?P<count>\d+)")
_REFERENCE = re.compile(r"# reference time: .* = (\d+)\.(\d+) \(TOD\) = (\d+)\.(\d+) \(\w+\)")
_OTHER_RECORD = "PERF_RECORD_"
_MORE_FIELDS = re.compile(
    r"""\s*\|\d+                                        # +srccode
    | .*/[A-Z-]{1,3}/[A-Z-]/[A-Z-]/\d+(?:[/\s]|$)       # +brstack, +brstacksym, +brstackoff
    | \s+ABI:\d                                         # +iregs, +uregs
    | \s*(?:insn|ilen|IPC|BPF\ output|BPF\ string):
    | \t\s*[0-9a-f]+\s*\t | \t\S.*:$                    # +brstackinsn
    | \s+[0-9a-f]{4}:\ (?:[0-9a-f.]{2}\ )+              # raw bytes
    | \s+[0-9a-f]{1,16}(?:\s+\d+[KMG])*$                # +phys_addr, +code_page_size
    | \[\ perf\ \w+: | (?i:warning):""",
    re.VERBOSE,
)
"""Lines of a sample that say nothing of its function, and what perf says of its own work."""
_SOURCE_LINE = re.compile(r"  (?! ).*?(?::\d+|:\?|\[[0-9a-f]+\])(?: \([^()]*\))*$")
_NAMES_BINARY = re.compile(r"\((?:/|\[)")
_INLINED_AT = f" ({INLINED})"


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


@dataclass(frozen=True)
class Unread:
    """Lines that are not understood: a sample with its stack, or one that is none."""

    line: int
    """The number of the first, from 1 on."""
    text: str
    has_stack: bool = False
    of_sample: bool = False
    """Whether the sample itself is known, and only its function is not."""

    @property
    def is_sample(self) -> bool:
        """Whether a sample is missing."""
        return not self.of_sample and (self.has_stack or HAS_TIME.search(self.text) is not None)


@dataclass(frozen=True)
class Damage:
    """The file does not go on to its end."""

    reason: str
    """How a sentence about the file goes on."""


Record = Sample | Fork | Lost | Clock | Unread | Damage


def records(lines: Iterable[str]) -> Iterator[Record]:
    """Return what lines say, in their order."""
    reader = _Reader()
    for number, raw in enumerate(lines, 1):
        line = raw.rstrip()
        # Nearly all lines are of stacks.
        if line.startswith("\t") and (frame := stack_line(line)) is not None:
            reader.add(number, line, frame)
        else:
            yield from reader.line(number, line)
    yield from reader.close()


class _Reader:
    """Puts the lines of one sample after the other together."""

    def __init__(self) -> None:
        self._head: Sample | Unread | None = None
        self._fields: tuple[int, str, str] = 0, "", ""
        """The head's number and line, and what stands behind the event."""
        self._frames: list[tuple[Frame, bool]] = []
        self._has_stack = self._is_together = False

    def line(self, number: int, line: str) -> Iterator[Record]:
        """Take a line that is no stack's; yield what it ends."""
        if not line:
            self._is_together = False
        elif not line.startswith("\t") and (head := _HEAD.match(line)) is not None:
            yield from self.close()
            yield from self._begin(number, line, head)
        elif line.startswith("#"):
            yield from self.close()
            if (times := _REFERENCE.match(line)) is not None:
                day, day_part, own, own_part = times.groups()
                yield Clock(_ns(day, day_part) - _ns(own, own_part))
        elif (frame := stack_line(line)) is not None:
            # Its tab was lost.
            self.add(number, line, frame)
        elif _OTHER_RECORD in line:
            yield from self.close()
        elif not self._is_field(line):
            yield from self.close()
            self._head, self._is_together = Unread(number, line.strip()), False

    def close(self) -> Iterator[Record]:
        """Yield the sample so far."""
        head, frames = self._head, self._frames
        self._head, self._frames, has_stack = None, [], self._has_stack
        self._has_stack = False
        if isinstance(head, Unread):
            yield replace(head, has_stack=has_stack)
        elif head is not None:
            number, line, rest = self._fields
            yield replace(head, frames=stack(frames)) if frames else head
            if not frames and not head.frames and _NAMES_BINARY.search(rest):
                yield Unread(number, line.strip(), of_sample=True)

    def _begin(self, number: int, line: str, head: re.Match[str]) -> Iterator[Record]:
        rest = head["rest"] or ""
        if (fork := _FORK.match(rest)) is not None:
            yield Fork(int(fork["child"]), int(fork["parent"]), _ns(head["s"], head["part"]))
        elif (lost := _LOST.match(rest)) is not None:
            yield Lost(int(lost["count"]))
        elif not rest.startswith(_OTHER_RECORD):
            event = _EVENT.match(rest)
            self._head = Unread(number, line.strip()) if event is None else _sample(head, event)
            self._fields = number, line, "" if event is None else event["rest"] or ""
            self._is_together = True

    def add(self, number: int, line: str, frame: tuple[Frame, bool]) -> None:
        """Take a line of a stack."""
        if self._head is None:
            # Where it begins is missing, as in a file that was cut.
            self._head = Unread(number, line.strip())
        self._has_stack = True
        self._frames.append(frame)

    def _is_field(self, line: str) -> bool:
        """Whether it belongs to the sample above it, of whose function it says nothing more."""
        if _MORE_FIELDS.match(line) is not None:
            return True
        if not self._is_together or _SOURCE_LINE.match(line) is None:
            return False
        if line.endswith(_INLINED_AT) and self._frames:
            self._frames[-1] = Frame(self._frames[-1][0].symbol, INLINED), True
        return True


def _sample(head: re.Match[str], event: re.Match[str]) -> Sample:
    name, rest = event["event"], event["rest"] or ""
    if rest.endswith(":") and _IS_TRACEPOINT.fullmatch(name) is None:
        # Nothing stands behind the event: the colon before was of its name.
        name, rest = f"{name}: {rest[:-1]}", ""
    alone = in_sample_line(rest)
    return Sample(
        comm=head["comm"] or "",
        pid=int(head["pid"]),
        cpu=_number(head["cpu"]),
        t_ns=_ns(head["s"], head["part"]),
        event=name,
        period=_number(event["period"]) or 1,
        frames=() if alone is None else stack([(alone, True)]),
        machine=_number(head["vm"]),
        vcpu=_number(head["vcpu"]),
    )


def _number(digits: str | None) -> int | None:
    return None if digits is None else int(digits)


def _ns(seconds: str, part: str) -> int:
    """Of seconds with six or nine decimals."""
    return int(seconds) * 1_000_000_000 + int(part.ljust(9, "0"))
