"""What the tables beside a study's experiment file are made of, and how one is read."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Final, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tierlab.errors import UserError

WRONG: Final = "published"
"""Kind of the errors of these tables. A ValueError, and every frame that it came through, would be
kept by pydantic's own error, into which the garbage collector cannot look: they would never go
away."""

Words = Annotated[str, Field(min_length=1, max_length=500)]


class Part(BaseModel):
    """A table, or a part of one, in which no key is unknown."""

    model_config = ConfigDict(frozen=True, extra="forbid")


Table = TypeVar("Table", bound=Part)


def read(path: Path, model: type[Table], needed: str) -> Table:
    """Read a table; UserError with one sentence when anything is wrong. ``needed`` says what needs
    it, for a file that is not there.
    """
    try:
        return model.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        raise UserError(f"{path}: no such file; {needed}.") from None
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"]) or "the file"
        raise UserError(f"{path}: {key}: {first['msg']}.") from None
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path}: not valid TOML: {error}.") from None
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}.") from None
