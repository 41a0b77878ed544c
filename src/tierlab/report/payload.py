"""The charts' data as it stands in the page."""

import base64
import json
from typing import Any

import numpy as np

from tierlab.analysis.query import Floats
from tierlab.report.lines import Line
from tierlab.report.panel import Panel
from tierlab.report.panels import INSTANT, Panels

_UNSAFE = {ord(each): f"\\u{ord(each):04x}" for each in "<>&\u2028\u2029"}


def embed(value: object) -> str:
    """Return JSON that is safe between script tags: nothing in it can end the script, open a
    comment or break a line, whatever the strings are.
    """
    return json.dumps(value, allow_nan=False, ensure_ascii=False).translate(_UNSAFE)


def charts(panels: Panels) -> dict[str, Any]:
    """Return the panels as the page's script expects them."""
    return {
        "seconds": panels.seconds,
        "instant": INSTANT,
        "runtime": panels.runtime,
        "panels": [_panel(each) for each in panels.panels],
        "shades": [
            {"kind": each.kind, "start": each.start, "end": each.end} for each in panels.shades
        ],
    }


def _panel(panel: Panel) -> dict[str, Any]:
    return {
        "key": panel.key,
        "unit": panel.unit,
        "lines": [_line(each) for each in panel.lines],
        "limit": panel.limit,
        "orders": panel.orders,
    }


def _line(line: Line) -> dict[str, Any]:
    return {
        "name": line.name,
        "colour": line.colour,
        "dash": line.dash,
        "t": _typed(line.t),
        "value": _typed(line.value),
    }


def _typed(values: Floats) -> dict[str, str]:
    """Return an array as Plotly's typed-array form: a third of the size of digits, and quicker."""
    data = values.astype(np.dtype("<f4")).tobytes()
    return {"dtype": "f4", "bdata": base64.b64encode(data).decode("ascii")}
