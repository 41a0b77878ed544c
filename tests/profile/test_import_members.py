"""Text of perf script in the forms that people print: each sample has its own function, and what
is not understood is counted."""

from __future__ import annotations

import pytest

from tierlab.errors import UserError
from tierlab.exchange.perf_frame import Frame
from tierlab.exchange.perf_rows import PerfRows
from tierlab.exchange.perf_script import Sample, Unread, records

MAIN = Frame("main", "/srv/app/server")
STACK = "\t  40beef main+0x10 (/srv/app/server)"
AT = "app 4000/4000 [001] 1001.000000001:"


def read(*lines: str) -> list[Sample]:
    return [each for each in records(lines) if isinstance(each, Sample)]


@pytest.mark.parametrize(
    "event",
    [
        *("my event", "a: b: c", "cpu/event=0xc0,name=inst retired: any/u", "L1 misses:u"),
        *("cpu_core/cycles/P", "uncore_imc_0/cas_count_read/", "sched:sched_switch", "cycles:GH"),
        *("mem:0x7f12:rw", "probe_libc:malloc", "sdt_qemu:x__return", "r1a8:u", "{cycles}:S"),
    ],
)
def test_a_sample_of_an_event_has_its_own_stack_whatever_the_event_is_called(event: str) -> None:
    before, found = read(
        f"{AT}  250000 cycles: ", "\t  1234 other+0x1 (/bin/other)", "", f"{AT}  7 {event}: ", STACK
    )
    assert (found.event, found.period, found.frames) == (event, 7, (MAIN,))
    assert before.frames == (Frame("other", "/bin/other"),)


@pytest.mark.parametrize(
    "field",
    [
        "0x40beef/0x40beaa/P/-/-/3/COND/- 0x40bea0/0x40bee0/M/-/-/12/CALL/-",
        "main+0x1(/srv/app/server)/foo+0x2(/srv/app/server)/P/-/-/0",
        "operator new(int)+0x1/foo+0x2/P/-/-/0/RET/-",
        *("insn: 48 89 e5", "ilen: 3", "ABI:2    AX:0x0    IP:0x40beef", "     12345000 4K 4K"),
        *("=>     401140 foo+0x0 (/bin/x)", "=>                0 [unknown] ([unknown])"),
    ],
)
def test_a_function_is_found_whatever_stands_behind_it(field: str) -> None:
    (found,) = read(f"{AT}  250000 cycles:   40beef main+0x10 (/srv/app/server) {field}")
    assert found.frames == (MAIN,)
    (found,) = read(f"{AT}  250000 cycles: ", STACK, f" {field}", "")
    assert found.frames == (MAIN,)


@pytest.mark.parametrize(
    "field",
    [
        "7ffc0 |OP LOAD|LVL L1 hit|SNP None ",
        "7ffc0 data+0x0 (/bin/x) 5868100142 |OP LOAD|LVL L1 hit|SNP None           12 ",
        "  call  ",
    ],
)
def test_a_function_is_found_whatever_stands_before_it(field: str) -> None:
    (found,) = read(f"{AT}  1 mem-loads:u:   {field}      40beef main+0x10 (/srv/app/server)")
    assert found.frames == (MAIN,)


@pytest.mark.parametrize(
    ("line", "frame"),
    [
        ("40beef (/srv/app/server)", Frame(None, "/srv/app/server")),
        ("40beef [unknown] (/srv/app/server)", Frame(None, "/srv/app/server")),
        ("40beef [unknown] ([unknown])", Frame(None, None)),
        ("40beef main (/srv/app/server+0x1beef)", MAIN),
        (
            "40beef f(int) (C:\\Program Files (x86)\\a.dll)",
            Frame("f(int)", "C:\\Program Files (x86)\\a.dll"),
        ),
        (
            "40beef (anonymous namespace)::f(int) (/lib/x)",
            Frame("(anonymous namespace)::f(int)", "/lib/x"),
        ),
        ("40beef Lorg/A;::run ([JIT] tid 12)", Frame("Lorg/A;::run", "[JIT]")),
        ("40beef f (/memfd:my code (deleted))", Frame("f", "/memfd:my code")),
    ],
)
def test_the_innermost_frame_is_never_dropped_in_favour_of_its_caller(
    line: str, frame: Frame
) -> None:
    (found,) = read(f"{AT}  1 cycles: ", f"\t  {line}", STACK)
    assert found.frames == (frame, MAIN)


def test_frames_without_a_binary_or_without_a_name_are_frames() -> None:
    (found,) = read(f"{AT}  1 cycles: ", "\t  40beef inner+0x1", "\t  40beef outer(int)+0x2")
    assert found.frames == (Frame("inner", None), Frame("outer(int)", None))
    (found,) = read(f"{AT}  1 cycles: ", "\t  40beef", "\t  40bef0")
    assert found.frames == (Frame(None, None), Frame(None, None))


def test_inlined_functions_are_frames_when_source_lines_are_printed_too() -> None:
    """perf puts `(inlined)` behind the source line then; the caller seemed to have the sample."""
    (found,) = read(
        f"{AT}  1 cycles: ",
        "\t  1156 inner+0x2d",
        "  in.c:2 (inlined)",
        "\t  1156 main+0x2d (/srv/app/server)",
        "  in.c:4",
        "\t  27249 start (/lib/libc.so.6)",
        "  :0",
        "",
        "|4        inner();",
    )
    assert found.frames == (
        Frame("inner", "/srv/app/server"),
        MAIN,
        Frame("start", "/lib/libc.so.6"),
    )


@pytest.mark.parametrize(
    "head",
    [
        "app 4000/4000 [001] 1001.000000001 cycles",
        "something that nobody knows",
        "app 4000 1001.000000001: 40beef",
        "-- new form -- {1001} --",
    ],
)
@pytest.mark.parametrize("between", [[""], []])
def test_the_stack_of_a_head_that_is_not_known_is_not_the_sample_befores(
    head: str, between: list[str]
) -> None:
    found = list(
        records(
            [
                f"{AT}  1 cycles: ",
                STACK,
                *between,
                head,
                "\t  1 f (/x)",
                "",
                f"{AT} 2 cycles: ",
                STACK,
            ]
        )
    )
    samples = [each for each in found if isinstance(each, Sample)]
    assert [each.frames for each in samples] == [(MAIN,), (MAIN,)]
    (unread,) = [each for each in found if isinstance(each, Unread)]
    assert (unread.text, unread.is_sample, unread.has_stack) == (head, True, True)


@pytest.mark.parametrize(
    "head",
    [
        "app 4000/4000 [001] K     1001.000000001:  250000 cycles:",
        "app 4000 1001.000000001:  250000 cycles:",
        " 4000/4000 [001] 1001.000000001:  250000 cycles:",
        "app 4000 2026-11-29 11:51:22.609073876 1001.000000001:  250000 cycles:",
        "app 4000 [001] d..2. 1001.000000001:  250000 cycles:",
    ],
)
def test_heads_with_fewer_or_more_fields_are_samples(head: str) -> None:
    (found,) = read(head, STACK)
    assert (found.pid, found.t_ns, found.event, found.period) == (
        4000,
        1001_000_000_001,
        "cycles",
        250000,
    )


def test_fields_of_tracepoints_are_no_functions() -> None:
    found = list(
        records(
            [
                f"{AT} raw_syscalls:sys_enter: NR 16 (d, 2400, 0, 7fa08062b5e0, 1, 0)",
                f"{AT} probe:foo: (ffffffff81415511) arg=3",
                f"{AT} sched:sched_switch: prev_comm=a ==> next_comm=b next_prio=120",
            ]
        )
    )
    assert [each.frames for each in found if isinstance(each, Sample)] == [(), (), ()]
    assert len(found) == 3


def test_other_records_of_perf_and_its_messages_are_not_missed() -> None:
    found = list(
        records(
            [
                "swapper 0 0.000000: PERF_RECORD_MMAP -1/0: [0xff(0x12) @ 0]: x [kernel]_text",
                f"{AT} PERF_RECORD_COMM exec: in:563/563",
                f"{AT} PERF_RECORD_SWITCH OUT preempt",
                "[ perf record: Woken up 1 times to write data ]",
                "Warning:",
                f"{AT} 1 cycles: ",
                STACK,
            ]
        )
    )
    assert [each.frames for each in found if isinstance(each, Sample)] == [(MAIN,)]
    assert len(found) == 1


def rows_of(*lines: str) -> PerfRows:
    made = PerfRows({}, first_ns=0)
    list(made.counters(records(lines), "perf.txt"))
    return made


def samples(count: int) -> list[str]:
    return [line for _ in range(count) for line in (f"{AT} 1 cycles: ", STACK, "")]


def test_what_is_not_understood_is_said_with_an_example_and_refused_from_a_tenth_on() -> None:
    odd = ["app 1 unknown form:", STACK, ""]
    (note,) = rows_of(*samples(9), *odd).not_understood.notes("perf.txt", 9)
    assert note == (
        "perf.txt: 1 of 10 samples were not understood and are left out, such as line 28"
        " ('app 1 unknown form:')."
    )
    with pytest.raises(UserError, match="2 of 11 samples are not understood, such as line 28"):
        rows_of(*samples(9), *odd, *odd)


def test_samples_whose_function_is_not_understood_are_said_and_refused() -> None:
    odd = f"{AT} 1 cycles: <40beef> main (/srv/app/server)"
    (note,) = rows_of(*samples(9), odd).not_understood.notes("perf.txt", 10)
    assert "1 of 10 samples have no function" in note
    with pytest.raises(UserError, match="have a function that is not understood"):
        rows_of(*samples(3), odd)


def test_other_lines_are_said_and_refused_when_they_are_more_than_the_samples() -> None:
    (note,) = rows_of(*samples(3), "a line", "another").not_understood.notes("perf.txt", 3)
    assert note == "perf.txt: 2 other lines were not understood, such as line 10 ('a line')."
    with pytest.raises(UserError, match="4 lines are not understood"):
        rows_of(*samples(3), *["a line"] * 4)


def test_differences_of_times_are_refused() -> None:
    parts = [0, 5, 1, 4, 2, 6, 1, 3]
    with pytest.raises(UserError, match="without `--deltatime`"):
        rows_of(*(f"app 1 0.00000{part}: 1 cycles: 40beef main (/x)" for part in parts))
