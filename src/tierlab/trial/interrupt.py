"""Ctrl-C and SIGTERM: the first ends the trial in order, further ones do not disturb that."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any


def heeded() -> Sequence[signal.Signals]:
    """The signals that end a trial: SIGINT, SIGTERM and SIGHUP.

    Not SIGHUP where it is ignored already: by nohup(1) a trial is to outlive its terminal.
    """
    if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
        return (signal.SIGINT, signal.SIGTERM)
    return (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def _handled(signals: Sequence[signal.Signals], handler: Any) -> Iterator[None]:
    before = {number: signal.signal(number, handler) for number in signals}
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def interruptible(signals: Sequence[signal.Signals]) -> Any:
    """While this lasts, these signals raise :class:`KeyboardInterrupt`."""
    return _handled(signals, _interrupt)


@contextmanager
def deferred() -> Iterator[None]:
    """While this lasts, what interrupts waits for its end, and raises KeyboardInterrupt then.

    For what is made together with how it is removed again.
    """
    arrived: list[int] = []
    with _handled(heeded(), lambda number, _frame: arrived.append(number)):
        yield
    if arrived:
        raise KeyboardInterrupt


def undisturbed(signals: Sequence[signal.Signals]) -> Any:
    """While this lasts, these signals are ignored: what is made is being removed."""
    return _handled(signals, signal.SIG_IGN)
