"""A few commands to Redis over an open connection, by RESP2."""

from __future__ import annotations

import socket
from types import TracebackType
from typing import Self

Value = str | int | list["Value"] | None
"""A reply: a string, a number, an array or nothing."""


class RespError(Exception):
    """Redis answered with an error, or not by its protocol; the message is what it said."""


class Resp:
    """A connection that is asked one thing after the other; a context that closes it."""

    def __init__(self, link: socket.socket) -> None:
        self._link = link
        self._lines = link.makefile("rb")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._lines.close()
        self._link.close()

    def ask(self, *words: str) -> Value:
        """Send a command; return its reply. `RespError`; OSError where the connection ends."""
        self.send(*words)
        return self._value()

    def send(self, *words: str) -> None:
        """Send a command and wait for nothing."""
        parts = [f"${len(word.encode())}\r\n{word}\r\n" for word in words]
        self._link.sendall(f"*{len(words)}\r\n{''.join(parts)}".encode())

    def _value(self) -> Value:
        line = self._lines.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("it closed the connection")
        kind, text = line[:1], line[1:-2].decode()
        if kind == b"-":
            raise RespError(text)
        if kind == b"+":
            return text
        if kind not in b":$*":
            raise RespError(line.decode(errors="replace").strip())
        number = int(text)
        if kind == b":":
            return number
        if number < 0:
            return None
        if kind == b"*":
            return [self._value() for _ in range(number)]
        return self._lines.read(number + 2)[:-2].decode(errors="replace")
