"""What the rows add up to is what the kernel's own counters say.

A counter is read before the sampler starts, when it is ready, before it is told to stop (and some
ticks have gone by since), and after it has ended. The sum over the rows lies between the inner and
the outer difference: no tolerance but that of time that the kernel books late.
"""

from __future__ import annotations

import itertools
import mmap
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from .conftest import INTERVAL, Group, Sampling, Start, samplers

TICK = 10_000_000
HELD = 16 << 20
ROUNDS = 25
"""Least that work is done."""
Read = Callable[[], Mapping[str, int]]


def observed(
    start: Start, read: Read, **plan: object
) -> tuple[Sampling, dict[str, tuple[int, int]]]:
    """Sample while this machine works; gives least and most that each counter grew."""
    before = read()
    sampling = start(**plan)
    ready = read()
    work()
    ending = read()
    sampling.ticks()
    sampling.stop()
    after = read()
    return sampling, {key: (ending[key] - ready[key], after[key] - before[key]) for key in before}


def work() -> None:
    """A second of everything: CPU, faults, files, connections that are accepted, reset, refused.

    And longer where this machine comes to nothing in a second.
    """
    end = time.monotonic() + 1
    with socket.create_server(("127.0.0.1", 0)) as listener:
        for done in itertools.count():
            if time.monotonic() > end and done > ROUNDS:
                break
            with socket.create_connection(listener.getsockname()) as client:
                accepted, _ = listener.accept()
                client.sendall(b"x" * 10_000)
                accepted.close()
            sum(range(20_000))
            touch(4 << 20)
            time.sleep(0.005)
    subprocess.run(["sync"], check=True)


def touch(size: int) -> None:
    """Fault fresh pages in; memory from malloc may have been in use before."""
    with mmap.mmap(-1, size) as fresh:
        for page in range(0, size, mmap.PAGESIZE):
            fresh[page] = 1


def fields(path: str, separator: str | None = None) -> dict[str, int]:
    words = (line.split(separator) for line in Path(path).read_text().splitlines())
    return {line[0]: int(line[1].split()[0]) for line in words}


def network(file: str, prefix: str) -> dict[str, int]:
    lines = Path(f"/proc/self/net/{file}").read_text().splitlines()
    names, values = (line.split()[1:] for line in lines if line.startswith(f"{prefix}:"))
    return dict(zip(names, map(int, values), strict=True))


def within(total: float, bounds: tuple[int, int], slack: float = 0) -> bool:
    least, most = bounds
    return least - slack <= total <= most + slack


@dataclass(frozen=True)
class Worked:
    """A second of everything that was sampled, and what the kernel's counters grew meanwhile."""

    sampling: Sampling
    grew: Mapping[str, tuple[int, int]]

    def of(self, source: str) -> dict[str, tuple[int, int]]:
        """The least and most that each counter of one source grew."""
        begin = f"{source}: "
        return {k.removeprefix(begin): v for k, v in self.grew.items() if k.startswith(begin)}


@pytest.fixture(scope="module")
def worked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worked]:
    def counters() -> dict[str, int]:
        found = {name: read() for name, read in SOURCES.items()}
        return {f"{name}: {key}": n for name, each in found.items() for key, n in each.items()}

    tables = ["memory", "disk", "net", "tcp", "cpu"]
    with samplers(tmp_path_factory.mktemp("worked")) as start:
        yield Worked(*observed(start, counters, tables=tables))


def diskstats() -> dict[str, int]:
    lines = [line.split() for line in Path("/proc/diskstats").read_text().splitlines()]
    counters = {"reads": 3, "writes": 7, "sectors_written": 9, "write_ms": 10}
    return {
        f"{line[2]} {name}": int(line[column])
        for line in lines
        for name, column in counters.items()
    }


def loopback() -> dict[str, int]:
    names = ("rx_bytes", "rx_packets", "tx_bytes", "tx_packets", "rx_dropped")
    return {name: int(Path("/sys/class/net/lo/statistics", name).read_text()) for name in names}


KINDS = {"user": (1, 2), "system": (3,), "iowait": (5,), "irq": (6, 7), "steal": (8,)}


def booked_ticks() -> dict[str, int]:
    lines = [line.split() for line in Path("/proc/stat").read_text().splitlines()]
    return {
        f"{line[0]} {column}": sum(int(line[part]) for part in parts)
        for line in lines
        if line[0].startswith("cpu") and line[0] != "cpu"
        for column, parts in KINDS.items()
    }


SOURCES: Mapping[str, Read] = {
    "vmstat": lambda: fields("/proc/vmstat"),
    "diskstats": diskstats,
    "lo": loopback,
    "tcp": lambda: {**network("snmp", "Tcp"), **network("netstat", "TcpExt")},
    "stat": booked_ticks,
}


def test_faults_and_paging_add_up_to_vmstat(worked: Worked) -> None:
    grew, memory = worked.of("vmstat"), worked.sampling.table("memory")
    assert grew["pgfault"][0] > 1000
    assert within((memory.minor_faults + memory.major_faults).sum(), grew["pgfault"])
    assert within(memory.major_faults.sum(), grew["pgmajfault"])
    assert within(memory.paged_out.sum() / 1024, grew["pgpgout"])
    assert within(memory.swapped_in.sum(), grew["pswpin"])


def test_levels_are_those_of_meminfo(start: Start) -> None:
    sampling = start(tables=["memory"])
    time.sleep(0.2)
    sampling.stop()
    last = sampling.table("memory").iloc[-1]
    meminfo = fields("/proc/meminfo", ":")
    assert last.total == meminfo["MemTotal"] * 1024
    assert last.available == pytest.approx(meminfo["MemAvailable"] * 1024, rel=0.1)
    assert last.swap_used == (meminfo["SwapTotal"] - meminfo["SwapFree"]) * 1024


def test_devices_add_up_to_diskstats(worked: Worked) -> None:
    grew, disk = worked.of("diskstats"), worked.sampling.table("disk")
    if disk.empty:
        pytest.skip("this machine has no disk in use")
    for name, rows in disk.groupby("subject"):
        assert within(rows.reads.sum(), grew[f"{name} reads"])
        assert within(rows.writes.sum(), grew[f"{name} writes"])
        assert within(rows.bytes_written.sum() / 512, grew[f"{name} sectors_written"])
        assert within(rows.write_time_ns.sum() / 1e6, grew[f"{name} write_ms"])
        assert rows.busy.between(0, 1).all()
    whole = {path.name for path in Path("/sys/block").iterdir()}
    assert set(disk.subject) <= whole


def test_the_loopback_adds_up_to_its_counters(worked: Worked) -> None:
    grew, net = worked.of("lo"), worked.sampling.table("net")
    net = net[net.subject == "lo"]
    assert grew["rx_bytes"][0] > 100_000
    assert within(net.bytes_in.sum(), grew["rx_bytes"])
    assert within(net.packets_in.sum(), grew["rx_packets"])
    assert within(net.bytes_out.sum(), grew["tx_bytes"])
    assert within(net.packets_out.sum(), grew["tx_packets"])
    assert within(net.drops_in.sum(), grew["rx_dropped"])


def test_connections_add_up_to_snmp_and_netstat(worked: Worked) -> None:
    grew, tcp = worked.of("tcp"), worked.sampling.table("tcp")
    assert grew["ActiveOpens"][0] > 20
    for column, counter in {
        "active_opens": "ActiveOpens",
        "passive_opens": "PassiveOpens",
        "resets_in": "EstabResets",
        "resets_out": "OutRsts",
        "segments_in": "InSegs",
        "segments_out": "OutSegs",
        "retransmissions": "RetransSegs",
        "syn_retransmissions": "TCPSynRetrans",
        "listen_overflows": "ListenOverflows",
        "listen_drops": "ListenDrops",
        "timeouts": "TCPTimeouts",
        "spurious_retransmissions": "TCPDSACKRecv",
    }.items():
        assert within(tcp[column].sum(), grew[counter]), column


def test_busy_time_adds_up_to_cpuacct(start: Start) -> None:
    usage = Path("/sys/fs/cgroup/cpuacct/cpuacct.usage_percpu")
    if not usage.exists() or not (usage.parent / "release_agent").exists():
        pytest.skip("this machine has no root control group with cpuacct (version 1)")

    def cores() -> dict[str, int]:
        return {f"cpu{core}": int(ns) for core, ns in enumerate(usage.read_text().split())}

    sampling, grew = observed(start, cores, tables=["cpu"], cpu_source="cgroup_v1")
    cpu = sampling.table("cpu")
    for core, rows in cpu.groupby("subject"):
        # What is carried to the next window when the sampler ends: a tick's worth.
        assert within((rows.busy * rows.dt_ns).sum(), grew[str(core)], slack=TICK)


def test_kinds_of_time_add_up_to_proc_stat(worked: Worked) -> None:
    grew = worked.of("stat")
    for core, rows in worked.sampling.table("cpu").groupby("subject"):
        for column in KINDS:
            assert rows[column].between(0, 1).all()
            booked = (rows[column] * rows.dt_ns).sum() / TICK
            assert within(booked, grew[f"{core} {column}"], slack=5.1), (core, column)


def busy_shares(start: Start) -> dict[str, float]:
    """By source, of the same two seconds of work: the samplers start and stop one after the other,
    which takes a while on a busy machine."""
    sources = ("cgroup_v1", "sched_switch", "proc_stat")
    samplings = [start(tables=["cpu"], cpu_source=source) for source in sources]
    began = time.time_ns()
    work()
    work()
    ended = time.time_ns()
    shares = {}
    for source, sampling in zip(sources, samplings, strict=True):
        sampling.ticks()
        if "cpu" in sampling.stop()["not_measured"]:
            continue
        cpu = sampling.table("cpu").dropna(subset="busy")
        cpu = cpu[(cpu.t_ns > began) & (cpu.t_ns - cpu.dt_ns < ended)]
        shares[source] = (cpu.busy * cpu.dt_ns).sum() / cpu.dt_ns.sum()
    return shares


def test_every_source_of_busy_time_agrees_in_the_long_run(start: Start) -> None:
    shares = busy_shares(start)
    assert "proc_stat" in shares
    # A window of each end may be in it or not.
    assert max(shares.values()) - min(shares.values()) < 0.05, shares


def test_a_group_and_its_process_add_up_to_its_usage(start: Start, group: Group) -> None:
    group.make()
    # What it had before it was added counts as its former group's.
    command = f"""import hashlib, sys, time
sys.stdin.read(1)
held = b"x" * {HELD}
print(flush=True)
while True: hashlib.sha256(bytes(200000)); time.sleep(0.001)"""
    with subprocess.Popen(
        [sys.executable, "-c", command], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        try:
            group.add(server.pid)
            server.stdin.write(b"!")
            server.stdin.close()
            assert server.stdout.readline() == b"\n"
            sampling, grew = observed(
                start,
                lambda: {"cpu": group.cpu_ns()},
                tables=["domain", "process"],
                subjects=[group.subject("web.1")],
                thread_interval_ns=INTERVAL,
            )
            resident = psutil.Process(server.pid).memory_info().rss
        finally:
            server.kill()
    domain, process = sampling.table("domain"), sampling.table("process")
    assert set(domain.subject) == set(process.subject) == {"web.1"}
    assert grew["cpu"][0] > 10_000_000
    assert within(domain.cpu_ns.sum(), grew["cpu"])
    whole, threads = process[process.thread.isna()], process[process.thread.notna()]
    assert within(whole.run_ns.sum(), grew["cpu"], slack=TICK)
    # A thread's first row comes one state later than the process's.
    assert threads.run_ns.sum() == pytest.approx(whole.run_ns.sum(), rel=0.15)
    assert set(domain.processes.dropna()) == {1}
    states = whole.dropna(subset="threads")
    assert set(states.threads) == {1}
    assert states.resident.iloc[-1] == pytest.approx(resident, rel=0.1)
    assert (domain.memory.dropna() > 0.9 * HELD).all()
