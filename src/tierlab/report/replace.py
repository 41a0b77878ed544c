"""Writing a file in one step: whoever reads it sees the old one or the new one, never a part."""

from contextlib import suppress
from pathlib import Path

from tierlab.errors import UserError


def replace(file: Path, text: str) -> None:
    """Put ``text`` into ``file``; `UserError` when it cannot be written."""
    try:
        put(file, text)
    except OSError as error:
        raise UserError(f"{file} cannot be written ({error.strerror or error}).") from error


def put(file: Path, text: str) -> None:
    """Do so; `OSError` when it cannot be written, and nothing of it is left."""
    part = file.with_name(f"{file.name}.part")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(file)
    finally:
        with suppress(OSError):  # on a mount that is read-only it is not missing, it is refused
            part.unlink()
