"""What every table of an experiment file has in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """A table of the file: frozen, strict in its types, and closed to keys it does not know.

    Attributes named `*_ns` are written without the suffix and as text in the file (`think = "7s"`).
    """

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, allow_inf_nan=False, use_attribute_docstrings=True
    )


MADE = {"use_attribute_docstrings": False}
"""Of a model that is made by a program: its source, which has none, would be sought for long."""
