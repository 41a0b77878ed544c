"""Jobs, asked for over HTTP: right with any number of threads, refused where they make no sense."""

from __future__ import annotations

import random
import socket
import time

import pytest

from tests.kernels.conftest import WORKERS, Served
from tests.kernels.reference import barriers, many_locks, memory_streams
from tests.pace import wait_until
from tierlab.workloads.kernels.jobs import SIZES, path, users

SMALL = {
    "pipeline": 200_000,
    "data-parallel": 3_000,
    "barriers": 60,
    "many-locks": 1_000,
    "memory-streams": 20_000,
}


def test_every_kernel_is_known_here_and_there() -> None:
    assert set(SMALL) == set(SIZES)
    assert [each["path"] for each in users("all", 1.0)["states"]] == list(map(path, SIZES))


@pytest.mark.parametrize("kernel", SMALL)
def test_a_result_depends_on_size_and_seed_and_not_on_threads(kernel: str, served: Served) -> None:
    ask = f"/{kernel}?size={SMALL[kernel]}&seed="
    jobs = [served.job(f"{ask}5&threads={threads}") for threads in (1, 2, 4, 8)]

    assert [job["threads"] for job in jobs] == [1, 2, 4, 8]
    assert len({job["checksum"] for job in jobs}) == 1
    assert all(job["run_ns"] > 0 and job["input_ns"] > 0 for job in jobs)
    assert served.job(f"{ask}6")["checksum"] != jobs[0]["checksum"]


@pytest.mark.parametrize(
    ("kernel", "size", "reference"),
    [
        ("barriers", 13, barriers),
        ("memory-streams", 500, memory_streams),
        ("many-locks", 150, many_locks),
    ],
)
def test_a_result_is_what_another_program_computes(
    kernel: str, size: int, reference: object, served: Served
) -> None:
    assert callable(reference)
    for seed in (0, 77):
        found = served.job(f"/{kernel}?size={size}&seed={seed}&threads=3")["checksum"]
        assert found == reference(size, seed)


def test_what_is_left_open_is_the_server_s(served: Served) -> None:
    job = served.job("/barriers")

    assert (job["threads"], job["seed"], job["unit"]) == (2, 1, "cells a side")


@pytest.mark.parametrize(
    ("target", "method", "status", "said"),
    [
        ("/ocean", "GET", 404, "The jobs are /pipeline, /data-parallel"),
        ("/pipeline?size=0", "GET", 400, "size must be a whole number, 1 to 1000000000."),
        ("/pipeline?threads=1e3", "GET", 400, "threads must be a whole number, 1 to 256."),
        ("/pipeline?speed=9", "GET", 400, "A job has size, threads and seed."),
        ("/pipeline", "POST", 405, "A job is asked for by GET."),
    ],
)
def test_what_is_no_job_is_refused_in_a_sentence(
    target: str, method: str, status: int, said: str, served: Served
) -> None:
    found = served.ask(target, method)

    assert found[0] == status
    assert found[1].startswith(said)


def test_whatever_bytes_come_the_next_job_is_done(served: Served) -> None:
    dice = random.Random(7)
    request = b"GET /barriers?size=5 HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"
    for _ in range(200):
        bytes_ = bytearray(request[: dice.randrange(len(request))])
        bytes_ += dice.randbytes(dice.randrange(20))
        with socket.create_connection(("127.0.0.1", served.port)) as client:
            client.sendall(bytes_)
            if dice.random() < 0.5:
                client.shutdown(socket.SHUT_WR)
    with socket.create_connection(("127.0.0.1", served.port)) as client:
        client.sendall(b"nonsense\r\n\r\n")
        said = b"".join(iter(lambda: client.recv(4096), b""))
        assert said.startswith(b"HTTP/1.1 400 ")

    assert served.job("/barriers?size=5")["size"] == 5


def test_requests_of_one_connection_may_come_at_once(served: Served) -> None:
    one = b"GET /barriers?size=4 HTTP/1.1\r\nHost: h\r\n"
    with socket.create_connection(("127.0.0.1", served.port)) as client:
        client.sendall((one + b"\r\n") * 2 + one + b"Connection: close\r\n\r\n")
        said = b"".join(iter(lambda: client.recv(4096), b""))

    assert said.count(b"HTTP/1.1 200 OK") == 3
    assert said.count(b"Connection: keep-alive") == 2


def test_no_more_jobs_run_at_once_than_there_are_workers(served: Served) -> None:
    held = [socket.create_connection(("127.0.0.1", served.port)) for _ in range(WORKERS)]
    for client in held:
        client.sendall(b"GET /bar")
    time.sleep(0.1)
    with socket.create_connection(("127.0.0.1", served.port), timeout=0.3) as waiting:
        waiting.sendall(b"GET / HTTP/1.0\r\n\r\n")
        with pytest.raises(TimeoutError):
            waiting.recv(1)
        held.pop().close()
        waiting.settimeout(30)
        assert waiting.recv(12) == b"HTTP/1.1 200"
    for client in held:
        client.close()


def test_the_log_has_what_was_asked_and_how_it_ended(served: Served) -> None:
    now = time.time_ns()
    served.ask("/barriers?size=9", **{"X-Request-Id": "00000000000000Ab"})
    served.ask("/none", **{"X-Request-Id": "cd"})

    def noted(name: str) -> list[list[str]]:
        return [line for line in served.lines() if line[2] == name]

    # A line is written once the reply is on its way.
    wait_until(lambda: noted("00000000000000ab") and noted("cd"), "the log")
    ((end, took, *job),) = noted("00000000000000ab")
    assert job == ["00000000000000ab", "200", "GET", "/barriers?size=9"]
    assert now < int(end) < now + 60e9
    assert 0 < int(took) < 60e9
    assert noted("cd")[0][3:] == ["404", "GET", "/none"]
