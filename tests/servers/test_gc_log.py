"""Logs as HotSpot 17 writes them, whole and cut."""

from __future__ import annotations

import pytest

from tierlab.errors import UserError
from tierlab.servers.gc_log import Pause, pauses

EPOCH = 1_795_188_355_970_600_000
"""When the JVM started, to the nanosecond."""


def line(uptime_ns: int, tags: str, text: str, epoch: int = EPOCH) -> str:
    """As it is logged at that uptime."""
    return f"[{(epoch + uptime_ns) // 1_000_000}ms][{uptime_ns}ns][{tags:<12}] {text}"


def safepoint(operation: str, total_ns: int) -> str:
    return (
        f'Safepoint "{operation}", Time since last: 963665014 ns, Reaching safepoint: 94520 ns,'
        f" Cleanup: 98917 ns, At safepoint: {total_ns - 193437} ns, Total: {total_ns} ns"
    )


YOUNG = "Pause Young (Normal) (G1 Evacuation Pause)"
LOG = [
    line(7_504_392, "gc", "Using G1"),
    line(1_058_170_254, "safepoint", safepoint("Cleanup", 157_264)),
    line(2_022_073_412, "gc,start", f"GC(0) {YOUNG}"),
    line(2_047_057_655, "gc,phases", "GC(0)   Evacuate Collection Set: 24.1ms"),
    line(2_047_121_220, "gc", f"GC(0) {YOUNG} 12M->3M(256M) 25.049ms"),
    line(2_047_133_789, "gc,cpu", "GC(0) User=0.01s Sys=0.00s Real=0.02s"),
    line(2_073_980_653, "safepoint", safepoint("G1CollectForAllocation", 52_149_270)),
    line(9_000_000_000, "gc", "GC(1) Pause Full (System.gc()) 9M->5M(256M) 40.125ms"),
    line(9_000_100_000, "safepoint", safepoint("G1CollectFull", 41_000_000)),
    *(line(at * 1_111_111_111, "gc", "Concurrent") for at in range(9, 40)),
]


def test_a_stop_is_one_pause_with_its_cause() -> None:
    found = pauses(LOG)
    assert [(pause.duration_ns, pause.is_collection, pause.cause) for pause in found] == [
        (157_264, False, "Cleanup"),
        (52_149_270, True, YOUNG),
        (41_000_000, True, "Pause Full (System.gc())"),
    ]


def test_starts_are_closer_than_the_logs_milliseconds() -> None:
    ends = [1_058_170_254, 2_073_980_653, 9_000_100_000]
    for pause, end in zip(pauses(LOG), ends, strict=True):
        assert abs(pause.start_ns - (EPOCH + end - pause.duration_ns)) < 250_000


def test_a_writer_that_is_held_up_between_its_two_clocks_does_no_harm() -> None:
    late = [line(at * 1_000_100_000, "gc", "x", EPOCH - 80_000_000) for at in range(1, 20)]
    (found,) = pauses([*late, *LOG[:2], *(line(at * 71_234_567, "gc", "x") for at in range(90))])
    assert abs(found.start_ns - (EPOCH + 1_058_170_254 - 157_264)) < 250_000


def test_a_step_of_the_clock_is_followed() -> None:
    stepped = EPOCH - 5_000_000_000
    before = [line(at * 1_011_111_111, "gc", "x") for at in range(60)]
    after = [line(at * 1_011_111_111, "gc", "x", stepped) for at in range(60, 200)]
    end = 150_000_000_000
    last = line(end, "safepoint", safepoint("Cleanup", 200_000), stepped)
    (found,) = pauses([*before, *after, last])
    assert abs(found.start_ns - (stepped + end - 200_000)) < 1_000_000


@pytest.mark.parametrize("left", range(1, 40, 3))
def test_a_line_that_was_cut_invents_nothing(left: int) -> None:
    *whole, last = LOG[:7]
    found = pauses([*whole, last[:-left]])[1]
    assert found == Pause(found.start_ns, 25_049_000, True, YOUNG)
    assert abs(found.start_ns - (EPOCH + 2_047_121_220 - 25_049_000)) < 1_000_000
    *whole, last = LOG[:5]
    assert len(pauses([*whole, last[:-left]])) == 1


def test_another_form_of_log_is_refused() -> None:
    with pytest.raises(UserError, match="Xlog"):
        pauses(["[0.004s][info][gc] Using G1"])
    with pytest.raises(UserError, match="Xlog"):
        pauses([])
