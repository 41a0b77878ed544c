"""The extended log format, which says its fields itself: IIS and CloudFront.

Source: W3C Working Draft WD-logfile-960323.
"""

from __future__ import annotations

from collections.abc import Mapping

from tierlab.exchange.log_lines.addresses import addresses, is_none
from tierlab.exchange.log_lines.entry import Entry, is_status, origin_form, value
from tierlab.exchange.log_lines.times import time_ns

W3C = "W3C extended"
_CLIENT = ("c-ip", "c-dns")
_FORWARDED = (
    *("x-forwarded-for", "cs(x-forwarded-for)", "x_forwarded_for", "originalip", "cs(x-real-ip)"),
    *("true-client-ip", "cf-connecting-ip", "x-real-ip", "cs(cf-connecting-ip)"),
)


class ExtendedLog:
    """Reads the lines of a log in the order of the file, as directives change what they mean."""

    def __init__(self) -> None:
        self._fields: list[str] = []
        self._date = ""

    def directive(self, text: str) -> bool:
        """Heed a line that begins with `#`; return whether it was a directive of the format."""
        name, colon, rest = text.removeprefix("#").strip().partition(":")
        if not colon or " " in name:
            return False
        if name.lower() == "fields":
            self._fields = rest.lower().split()
        elif name.lower() == "date":
            self._date = rest.split()[0] if rest.strip() else ""
        return bool(self._fields) or name.lower() in ("version", "software", "date", "start-date")

    def entry(self, text: str) -> Entry | None:
        """Return the request of a line; None before the fields are said, and where the line has
        others.
        """
        values = text.split("\t") if "\t" in text else text.split()
        if not self._fields or len(values) != len(self._fields):
            return None
        given = dict(zip(self._fields, values, strict=True))
        at = self._time(given)
        status = _first(given, ("sc-status", "status"))
        if at is None or not is_status(status):
            return None
        target, absolute = _target(given)
        clients = _first(given, _CLIENT)
        plain = addresses(clients) or (() if is_none(clients) else (clients,))
        return Entry(
            time_ns=at,
            clients=(plain,),
            forwarded=tuple(
                (name, found)
                for name in _FORWARDED
                # IIS writes a blank as a plus, CloudFront as a code.
                if (found := addresses(_plain(given.get(name, ""))))
            ),
            user=_first(given, ("cs-username",)),
            agent=_first(given, ("cs(user-agent)",)).replace("+", " "),
            method=_first(given, ("cs-method",)),
            target=target,
            host=absolute or _first(given, ("cs-host", "cs(host)", "x-host-header")),
            status=int(status),
            form=W3C,
        )

    def _time(self, given: Mapping[str, str]) -> int | None:
        if (date := given.get("date", self._date)) and (time := given.get("time")):
            return time_ns(f"{date}T{time}")
        return time_ns(given.get("timestamp", ""))


def _first(given: Mapping[str, str], names: tuple[str, ...]) -> str:
    return next((found for name in names if (found := value(given.get(name, "")))), "")


def _plain(text: str) -> str:
    return text.replace("+", " ").replace("%20", " ").replace("%2C", ",").strip('"')


def _target(given: Mapping[str, str]) -> tuple[str, str]:
    path = _first(given, ("cs-uri-stem", "cs-uri"))
    query = _first(given, ("cs-uri-query",))
    return origin_form(f"{path}?{query}" if query and "?" not in path else path)
