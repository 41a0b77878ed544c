"""Trying something that would change this process, in a child that ends right after."""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Callable

SECONDS = 10.0


def attempt(action: Callable[[], object]) -> str | None:
    """Run `action` in a forked child; None when it went well, else why not.

    Whatever the child made with namespaces is gone with it.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        _tell(action, writer)
    os.close(writer)
    ready, _, _ = select.select([reader], [], [], SECONDS)
    said = os.read(reader, 4096).decode("utf-8", errors="replace") if ready else ""
    os.close(reader)
    if not ready:
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if not ready:
        return f"no answer within {SECONDS:.0f} s"
    if said or status:
        return said or f"the attempt ended with status {status}"
    return None


def _tell(action: Callable[[], object], writer: int) -> None:
    """The child's life: never returns."""
    try:
        action()
    except OSError as error:
        os.write(writer, (error.strerror or str(error)).encode())
    except BaseException as error:
        os.write(writer, f"{type(error).__name__}: {error}".encode()[:4000])
    finally:
        os._exit(0)
