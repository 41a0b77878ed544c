"""Ctrl-C and SIGTERM: the first ends the trial in order, further ones do not disturb that."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def _handled(handler: Any) -> Iterator[None]:
    before = {number: signal.signal(number, handler) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def interruptible() -> Any:
    """While this lasts, SIGINT, SIGTERM and SIGHUP raise :class:`KeyboardInterrupt`."""
    return _handled(_interrupt)


@contextmanager
def deferred() -> Iterator[None]:
    """While this lasts, the same signals wait for its end, and raise KeyboardInterrupt then.

    For what is made together with how it is removed again.
    """
    arrived: list[int] = []
    with _handled(lambda number, _frame: arrived.append(number)):
        yield
    if arrived:
        raise KeyboardInterrupt


def undisturbed() -> Any:
    """While this lasts, SIGINT, SIGTERM and SIGHUP are ignored: what is made is being removed."""
    return _handled(signal.SIG_IGN)
