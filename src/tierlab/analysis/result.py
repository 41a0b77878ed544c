"""What every result is: a frozen value whose fields are JSON's keys."""

from pydantic import BaseModel, ConfigDict


class Result(BaseModel):
    """A finished figure or group of figures.

    Durations are seconds (``*_s``), instants are UTC nanoseconds (``*_ns``), shares are 0..1, and
    ``None`` says that the figure was not measured or has no meaning here; it never stands for zero.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
