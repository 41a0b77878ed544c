"""Keys of a compose file that are true or false."""

from __future__ import annotations

from typing import Any

_SWITCHES = {
    **dict.fromkeys(("true", "yes", "y", "on"), True),
    **dict.fromkeys(("false", "no", "n", "off"), False),
}


def switch(value: Any) -> Any:
    """The value of a key that is true or false, and may say so by 1.1's words; another as it is."""
    return _SWITCHES.get(value.lower(), value) if isinstance(value, str) else value
