from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.environments.full_disk import full_disk
from tests.pace import wait_until
from tests.sample.stalled_disk import stalled_disk
from tierlab.environments import process
from tierlab.environments.identity import Identity, identify, is_alive, session_members, stat
from tierlab.environments.launching import launch_program
from tierlab.environments.ledger import Ledger, read
from tierlab.environments.process import HostProcess, Launch, code_map, end, open_gate
from tierlab.environments.removal import remove_account, remove_all, remove_trial

WRITES = 'while :; do echo something >"$0"; done'


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger("processes", tmp_path / "ledger")


def wait_for(path: Path) -> str:
    wait_until(lambda: path.exists() and path.read_text(), f"{path.name}'s being written")
    return path.read_text()


def test_what_took_the_number_of_a_process_that_was_to_end_gets_no_signal() -> None:
    """Between the listing of members and the signal, as with a number that is given out anew."""
    successor = subprocess.Popen(["sleep", "30"])
    listings = iter([[successor.pid]])
    try:
        end(lambda: next(listings, []), 0.1)
        with pytest.raises(subprocess.TimeoutExpired):
            successor.wait(0.5)
    finally:
        successor.kill()
        successor.wait()


REUSED = """
import subprocess, time
from pathlib import Path
from tierlab.environments.identity import identify, is_alive
from tierlab.environments.process import end

first = subprocess.Popen(["sleep", "60"])
member, others = identify(first.pid), []

def members():
    if not others:
        first.kill()
        first.wait()
        time.sleep(0.05)
        Path("/proc/sys/kernel/ns_last_pid").write_text(str(first.pid - 1))
        others.append(subprocess.Popen(["sleep", "60"]))
        return [first.pid]
    return [first.pid] if is_alive(member) else []

end(members, 0.1)
time.sleep(0.1)
print(others[0].pid == first.pid, others[0].poll())
"""


@pytest.mark.privileged
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_another_process_with_the_number_of_one_that_was_to_end_goes_on() -> None:
    """In a PID namespace of its own, where the next number can be chosen."""
    alone = ("unshare", "--pid", "--fork", "--kill-child", "--mount-proc")
    done = subprocess.run(
        [*alone, sys.executable, "-c", REUSED], capture_output=True, text=True, check=True
    )
    assert done.stdout == "True None\n"


@pytest.mark.parametrize("why", [OSError(errno.ENOSYS, "none"), OSError(errno.EMFILE, "none")])
def test_a_process_ends_where_no_descriptor_holds_it(
    why: OSError, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(pid: int) -> int:  # noqa: ARG001
        raise why

    monkeypatch.setattr(os, "pidfd_open", refused)
    child = subprocess.Popen(["sleep", "30"])
    assert end(lambda: [child.pid] if child.poll() is None else [], 5.0) == [child.pid]
    assert child.poll() == -signal.SIGTERM


def test_start_times_agree_with_the_boot_clock() -> None:
    child = subprocess.Popen(["sleep", "30"])
    try:
        found = stat(child.pid)
        assert found is not None
        age = time.clock_gettime(time.CLOCK_BOOTTIME) - found.start / os.sysconf("SC_CLK_TCK")
        assert -0.1 < age < 5
    finally:
        child.kill()
        child.wait()
    assert stat(child.pid) is None


def test_a_name_with_blanks_and_parentheses_does_not_shift_the_fields(tmp_path: Path) -> None:
    program = tmp_path / "a ) b ("
    program.symlink_to("/bin/sleep")
    child = subprocess.Popen([str(program), "30"])
    try:
        found = stat(child.pid)
        assert found is not None
        assert found.session == os.getsid(0)
    finally:
        child.kill()
        child.wait()


def test_a_program_does_nothing_before_it_is_let_go(ledger: Ledger, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    launch = Launch(["touch", str(mark)], ledger.token)
    waiting = open_gate(launch, subprocess.DEVNULL, subprocess.DEVNULL)
    time.sleep(0.2)
    assert waiting.poll() is None
    assert waiting.stdin is not None
    waiting.stdin.close()  # as when the laboratory dies
    assert waiting.wait(5) == 125
    assert not mark.exists()


def test_a_launched_process_is_in_the_ledger_under_its_own_identity(ledger: Ledger) -> None:
    process = launch_program(
        ledger, Launch(["sleep", "30"], ledger.token), subprocess.DEVNULL, subprocess.DEVNULL
    )
    (entry,) = read(ledger.path).entries
    assert entry.what == {
        "pid": process.pid,
        "start": identify(process.pid).start,
        "program": "sleep",
    }
    assert process.stop(5)
    assert read(ledger.path).entries == ()


def test_stop_kills_what_does_not_listen_and_its_children(ledger: Ledger, tmp_path: Path) -> None:
    script = "trap '' TERM; sleep 60 & echo $! > child; wait; while :; do sleep 1; done"
    process = launch_program(
        ledger,
        Launch(["sh", "-c", script], ledger.token, cwd=tmp_path),
        subprocess.DEVNULL,
        subprocess.DEVNULL,
    )
    child = identify(int(wait_for(tmp_path / "child")))
    assert not process.stop(0.3)
    assert not is_alive(process.identity)
    assert not is_alive(child)


@pytest.mark.slow
@pytest.mark.privileged
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_one_that_waits_for_a_disk_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What had been killed was said to be left after 5 s, which is what a busy disk may take."""
    monkeypatch.setattr(process, "KILL_SECONDS", 0.1)
    with stalled_disk(tmp_path) as disk, ThreadPoolExecutor() as beside:
        place = disk.seen_from_outside / "written"
        writer = subprocess.Popen(["sh", "-c", WRITES, place], start_new_session=True)
        leader = identify(writer.pid)
        stalled = beside.submit(disk.stall, 1.5)
        try:
            wait_until(lambda: (found := stat(writer.pid)) and found.state == "D", "its wait")
            assert end(lambda: session_members(leader, "unused"), 0.1) == [writer.pid]
            assert not is_alive(leader)
        finally:
            writer.kill()
            status = writer.wait()
        assert stalled.result() > 1
        assert status == -signal.SIGTERM


def orphan(ledger: Ledger, folder: Path, command: str) -> tuple[HostProcess, Identity]:
    """A program that has ended, and the one that it left running in its session."""
    script = f"{command} & echo $! > child; exit 0"
    launch = Launch(["sh", "-c", script], ledger.token, cwd=folder)
    process = launch_program(ledger, launch, subprocess.DEVNULL, subprocess.DEVNULL)
    child = identify(int(wait_for(folder / "child")))
    assert process.wait(5) == 0
    return process, child


def test_children_of_a_dead_leader_are_found_by_their_token(ledger: Ledger, tmp_path: Path) -> None:
    process, child = orphan(ledger, tmp_path, "sleep 60")
    assert session_members(process.identity, ledger.token) == [child.pid]
    assert session_members(process.identity, "another token") == []
    outcomes = list(remove_all(ledger.account(), 2.0))
    assert [outcome.done for outcome in outcomes] == [True]
    assert not is_alive(child)


def test_one_that_is_becoming_another_program_is_not_overlooked(
    ledger: Ledger, tmp_path: Path
) -> None:
    """It has no environment for a moment. Who looked then took podman's last call for ended, and
    what it kept running for left: 'could not end process ... in state R'.
    """
    again = tmp_path / "again"
    again.write_text('#!/bin/sh\nexec "$0"\n')
    again.chmod(0o755)
    process, child = orphan(ledger, tmp_path, "./again")
    try:
        looks = [session_members(process.identity, ledger.token) for _ in range(200)]
        assert looks == [[child.pid]] * 200
    finally:
        outcomes = list(remove_all(ledger.account(), 2.0))
    assert [outcome.done for outcome in outcomes] == [True]
    assert not is_alive(child)


def daemon(token: str, folder: Path, ledger: Ledger) -> Identity:
    """One that has left the session of its program, which has ended."""
    script = "setsid sleep 60 & echo $! > daemon; exit 0"
    launch = Launch(["sh", "-c", script], token, cwd=folder)
    process = launch_program(ledger, launch, subprocess.DEVNULL, subprocess.DEVNULL)
    pid = int(wait_for(folder / "daemon"))
    wait_until(lambda: (found := stat(pid)) and found.session == pid, "its leaving")
    (folder / "daemon").unlink()
    assert process.wait(5) == 0
    process.stop(1)
    return identify(pid)


@pytest.mark.parametrize("cleaned", [False, True])
def test_what_left_its_session_goes_with_the_trial(
    ledger: Ledger, tmp_path: Path, cleaned: bool
) -> None:
    """Without control groups it ran on, and no ledger had it."""
    ours, another = (daemon(each, tmp_path, ledger) for each in (ledger.token, "another"))
    try:
        assert is_alive(ours)
        assert ledger.account().entries == ()
        if cleaned:
            assert remove_account(read(ledger.path)) == (
                [f"ended what left its session (process {ours.pid})"],
                [],
            )
        else:
            remove_trial(ledger)
        assert not is_alive(ours)
        assert is_alive(another)
    finally:
        os.kill(another.pid, signal.SIGKILL)


def test_a_process_is_stopped_on_a_full_disk(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    process = launch_program(
        ledger, Launch(["sleep", "60"], ledger.token), subprocess.DEVNULL, subprocess.DEVNULL
    )
    full_disk(monkeypatch)
    process.stop(5)
    assert not is_alive(process.identity)
    assert ledger.account().entries == ()


def test_a_process_that_took_over_the_pid_is_left_alone(ledger: Ledger) -> None:
    stranger = subprocess.Popen(["sleep", "30"], start_new_session=True)
    try:
        code_map(stranger.pid).touch()
        start = identify(stranger.pid).start
        ledger.add("process", pid=stranger.pid, start=start - 1, program="sleep")
        assert session_members(Identity(stranger.pid, start - 1), ledger.token) == []
        (outcome,) = remove_all(ledger.account(), 1.0)
        assert outcome.note is None
        assert stranger.poll() is None
        assert code_map(stranger.pid).exists()
    finally:
        code_map(stranger.pid).unlink(missing_ok=True)
        stranger.kill()
        stranger.wait()


def test_files_are_allowed_up_to_the_hard_limit_or_ours(ledger: Ledger, tmp_path: Path) -> None:
    out = tmp_path / "limit"
    with out.open("wb") as output:
        process = launch_program(
            ledger,
            Launch(["sh", "-c", "ulimit -S -n"], ledger.token),
            output.fileno(),
            subprocess.DEVNULL,
        )
        process.wait(5)
    process.stop(0)
    said = subprocess.run(
        [sys.executable, "-c", "import resource; print(resource.getrlimit(7)[1])"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(out.read_text()) == min(int(said.stdout), 65_536)


def test_a_signal_reaches_the_program(ledger: Ledger) -> None:
    process = launch_program(
        ledger, Launch(["sleep", "30"], ledger.token), subprocess.DEVNULL, subprocess.DEVNULL
    )
    time.sleep(0.1)
    process.signal(signal.SIGUSR1)
    assert process.wait(5) == -signal.SIGUSR1
    process.stop(0)


def test_stop_leaves_the_last_words_to_their_reader(ledger: Ledger) -> None:
    script = "trap 'seq 5000; echo last; exit 0' INT; echo ready; while :; do sleep 0.01; done"
    process = launch_program(
        ledger, Launch(["sh", "-c", script], ledger.token), subprocess.PIPE, subprocess.DEVNULL
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    assert process.stop(5, signal.SIGINT)
    with process.stdout as output:
        assert output.read().split()[-1] == b"last"
