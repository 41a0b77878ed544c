"""One chart over time, and what it says without eyes."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from tierlab.report.figures import amount
from tierlab.report.lines import Line


@dataclass(frozen=True)
class Panel:
    """One chart. ``about`` says what it shows, ``reading`` what is to be seen in it.

    ``orders`` asks for a logarithmic axis: its lines lie orders of magnitude apart.
    """

    key: str
    title: str
    about: str
    unit: str
    lines: list[Line]
    reading: str
    limit: tuple[float, str] | None = None
    orders: bool = False


def reading(lines: Iterable[Line], unit: str) -> str:
    """Say each line's peak and when it was."""
    said, flat = [], []
    for line in lines:
        if np.isnan(line.value).all():
            continue
        top = int(np.nanargmax(line.value))
        peak = float(line.value[top])
        if peak == 0:
            flat.append(line.name)
        else:
            said.append(f"{line.name} peaks at {amount(peak, unit)} at {line.t[top]:.1f} s")
    if flat:
        said.append(f"{', '.join(flat)} at zero")
    return "; ".join(said) + "." if said else "No values."
