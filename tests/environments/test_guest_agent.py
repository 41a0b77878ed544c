"""How commands reach a guest's agent, and what becomes of them when it is slow, odd or gone.

The agent here is a fake that says what it is told to; the real one is in every guest of the suites.
"""

from __future__ import annotations

import base64
import json
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.pace import wait_until
from tierlab.environments.guests.agent import AgentGoneError, GuestAgent

Answer = Callable[[str, dict[str, Any]], Any]


class Fake:
    """Answers commands one after the other; None is no answer at all."""

    def __init__(self, path: Path) -> None:
        self.answer: Answer = lambda _command, _arguments: {}
        self.heard: list[bytes] = []
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(str(path))
        self._listener.listen()
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        link, _ = self._listener.accept()
        self.link = link
        with link, link.makefile("rwb") as lines:
            for line in lines:
                asked = json.loads(line.lstrip(b"\xff"))
                command, arguments = asked["execute"], asked["arguments"]
                self.heard.append(line)
                if line.startswith(b"\xff"):
                    lines.write(b'{"error": {"desc": "JSON parse error"}}\n')
                if (said := self.answer(command, arguments)) is not None:
                    answer = {"return": said, "id": asked["id"]}
                    lines.write(json.dumps(answer).encode() + b"\n")
                lines.flush()


@pytest.fixture
def fake(tmp_path: Path) -> Fake:
    return Fake(tmp_path / "agent")


@pytest.fixture
def agent(fake: Fake, tmp_path: Path) -> Iterator[GuestAgent]:  # noqa: ARG001 - listens there
    made = GuestAgent(tmp_path / "agent")
    yield made
    made.close()


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def test_a_command_is_run_to_its_end(fake: Fake, agent: GuestAgent) -> None:
    looks = iter([{"exited": False}, {"exited": True, "exitcode": 3, "out-data": encoded("said")}])
    fake.answer = lambda command, _: {"pid": 7} if command == "guest-exec" else next(looks)
    done = agent.run(["/bin/true"], 5)
    assert done is not None
    assert (done.status, done.stdout, done.stderr) == (3, "said", "")


def test_a_signal_is_a_negative_status(fake: Fake, agent: GuestAgent) -> None:
    fake.answer = lambda _command, _arguments: {"exited": True, "signal": 9}
    ended = agent.ended(7)
    assert ended is not None
    assert ended.status == -9


def test_a_command_that_goes_on_is_given_up(fake: Fake, agent: GuestAgent) -> None:
    fake.answer = lambda command, _: {"pid": 7} if command == "guest-exec" else {"exited": False}
    assert agent.run(["/bin/sleep", "60"], 0.1) is None


def test_a_late_answer_is_not_taken_for_the_next_one(fake: Fake, agent: GuestAgent) -> None:
    fake.answer = lambda _command, _arguments: None
    assert not agent.answers(0.1)
    wait_until(lambda: fake.heard, "the command's arrival")
    late = json.loads(fake.heard[0].lstrip(b"\xff"))["id"]
    fake.link.sendall(json.dumps({"return": {"pid": 1}, "id": late}).encode() + b"\n")
    fake.answer = lambda _command, _arguments: {"pid": 2}
    assert agent.start(["/bin/true"]) == 2
    assert fake.heard[1].startswith(b"\xff"), "half a command may have reached the guest"


def test_what_is_no_answer_is_passed_over(fake: Fake, agent: GuestAgent) -> None:
    """On a console: the kernel's words, and the echo of the command itself."""
    fake.answer = lambda _command, _arguments: None
    assert not agent.answers(0.1)
    wait_until(lambda: fake.heard, "the command's arrival")
    fake.link.sendall(b"[    1.0] a kernel says\n" + fake.heard[0] + b"17\n")
    fake.answer = lambda _command, _arguments: {}
    assert agent.answers(5)


def test_a_guest_that_is_gone_is_silent(fake: Fake, agent: GuestAgent) -> None:
    assert agent.answers(5)
    fake.link.shutdown(socket.SHUT_RDWR)
    assert not agent.answers(5)
    with pytest.raises(AgentGoneError):
        agent.ended(7)
