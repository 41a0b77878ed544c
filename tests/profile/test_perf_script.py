"""What perf prints, as records and rows."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tierlab.exchange.perf_data import read_perf
from tierlab.exchange.perf_frame import Frame
from tierlab.exchange.perf_rows import PerfRows, source_of
from tierlab.exchange.perf_script import Sample, records

OLD_PERF = """\
#!/bin/sh
case "$*" in *machine_pid*|*vcpu*)
    echo 'Invalid field requested.' >&2
    printf '\\n Usage: perf script [<options>]\\n\\n    -F, --fields <str>   output fields\\n' >&2
    exit 129
esac
echo 'sh 7/7 [000] 5.000000001: 1000 cycles: 55d0 work (/bin/sh)'
echo 'sh 7/7 [001] 5.000000002: 1000 cycles: 55d0 work (/bin/sh)'
"""


def test_perf_before_6_is_asked_again_without_what_it_does_not_know(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    perf, recording = tmp_path / "perf", tmp_path / "perf.data"
    perf.write_text(OLD_PERF)
    perf.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    recording.write_bytes(b"PERFILE2")
    samples = [record for record in read_perf(recording) if isinstance(record, Sample)]
    assert [(each.cpu, each.frames) for each in samples] == [
        (0, (Frame("work", "/bin/sh"),)),
        (1, (Frame("work", "/bin/sh"),)),
    ]


GUEST = """\
VM:13376 VCPU:003            uname  3404/3404  [002]  7338.835600395:         10 branches:
\tffffffff8114e3ea lookup_fast+0x1a ([guest.kernel.kallsyms])
\t    7fce42942ab6 do it (all) (/srv/my (deleted))

CPU 0/KVM 13376/13380 [001] 7338.835600400: 99 cycles:u: 55d0 void A.b(int) (/tmp/perf-3.map)
php-fpm: pool w 7/7 [000] 7339.0: PERF_RECORD_FORK(8:8):(7:7)
"""


def test_lines_of_guests_of_odd_names_and_of_compiled_code_are_read() -> None:
    first, second = records(GUEST.splitlines())

    assert isinstance(first, Sample)
    assert isinstance(second, Sample)
    assert (first.machine, first.vcpu, first.pid, first.period) == (13376, 3, 3404, 10)
    assert first.frames[0] == Frame("lookup_fast", "[guest.kernel.kallsyms]")
    assert (second.comm, second.pid, second.event) == ("CPU 0/KVM", 13376, "cycles:u")
    assert second.frames == (Frame("void A.b(int)", "[JIT]"),)
    rows = PerfRows({13376: "db.1"}, first_ns=0).counters([first, second], "x")
    assert [row["domain"] for row in rows] == ["db.1", "db.1"]


def frames(*lines: str) -> tuple[Frame, ...]:
    """Of a sample that has these below it."""
    (sample,) = records(["server 12/14 [003] 5.000000001: 100 cycles:", *lines])
    assert isinstance(sample, Sample)
    return sample.frames


def test_a_programs_path_may_have_spaces_and_a_functions_name_too() -> None:
    assert frames(
        "\t55d0 hot+0x1 (/opt/my app/bin/server)",
        "\t7fce do it (all) (/srv/my (deleted))",
        "\t7fcf [unknown] (/opt/an old app (deleted))",
        "\tffff do_idle+0x5 ([kernel.kallsyms])",
    ) == (
        Frame("hot", "/opt/my app/bin/server"),
        Frame("do it (all)", "/srv/my"),
        Frame(None, "/opt/an old app"),
        Frame("do_idle", "[kernel.kallsyms]"),
    )


def test_an_inlined_function_is_of_the_binary_that_it_is_inlined_in() -> None:
    assert frames(
        "\t55d0 inner (inlined)",
        "\t55d0 outer (inlined)",
        "\t55d0 work+0x10 (/usr/bin/server)",
        "\t7fce main+0x1 (/usr/bin/other)",
    ) == (
        *(Frame(name, "/usr/bin/server") for name in ("inner", "outer", "work")),
        Frame("main", "/usr/bin/other"),
    )
    assert frames("\t55d0 inner (inlined)") == (Frame("inner", None),)


def test_who_counts_an_event_is_told_by_its_name() -> None:
    names = ("cpu-clock", "page-faults:u", "sched:sched_switch", "cycles:u", "LLC-load-misses")
    assert [source_of(name) for name in names] == [*["software"] * 3, "pmu", "pmu"]


@pytest.mark.parametrize(
    ("spelled", "name", "source"),
    [
        ("cpu_core/cycles/P", "cycles", "pmu"),
        ("cpu_atom/cycles/", "cycles", "pmu"),
        ("cycles:P", "cycles", "pmu"),
        ("cycles:HG", "cycles", "pmu"),
        ("cpu-clock:pppH", "cpu-clock", "software"),
        ("sched:sched_switch", "sched:sched_switch", "software"),
        ("cpu/event=0x3c,umask=0x0/", "cpu/event=0x3c,umask=0x0/", "pmu"),
    ],
)
def test_an_event_goes_by_its_own_name_whatever_perf_adds(
    spelled: str, name: str, source: str
) -> None:
    rows = PerfRows({}, first_ns=0).counters([Sample("any", 1, 0, 0, spelled, 1)], "x")
    assert [(row["event"], row["source"]) for row in rows] == [(name, source)]
