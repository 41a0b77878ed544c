"""Which of a line's addresses is the visitor's.

1. In a field before the request: of a list, the first public address.
2. Else of the addresses that a proxy forwarded, in a later field: the first public one.
3. Else the client's address.

Which fields these are shows in all lines together.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from tierlab.exchange.log_lines.addresses import Addresses, first_public, is_public
from tierlab.exchange.log_lines.entry import Entry
from tierlab.exchange.log_lines.text_lines import COMMON

MANY_MORE = 5
"""A field after the request with this many times fewer addresses than the client's field has is the
proxies', not the visitors'."""


class Visitors:
    """Tells visitors' addresses in the lines of one log."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._column = _client_column(entries)
        self._has_lists = any(len(self._client(each)) > 1 for each in entries)
        self.forwarded = [] if self._has_lists else self._forwarded_fields(entries)
        """The names of the fields with forwarded addresses."""

    def address(self, entry: Entry) -> str:
        """Return the visitor's address; empty where the line has none."""
        for name, found in entry.forwarded:
            if name in self.forwarded:
                return first_public(found)
        return first_public(self._client(entry))

    def _client(self, entry: Entry) -> Addresses:
        clients = entry.clients
        column = self._column if self._column < len(clients) else len(clients) - 1
        return clients[column] if clients else ()

    def _forwarded_fields(self, entries: Iterable[Entry]) -> list[str]:
        """Return the fields whose addresses are not the proxies' own."""
        found: dict[str, set[str]] = defaultdict(set)
        clients: dict[str, set[str]] = defaultdict(set)
        named = set()
        for entry in entries:
            for name, each in entry.forwarded:
                found[name].add(first_public(each))
                clients[name].add(first_public(self._client(entry)))
                if entry.form != COMMON:
                    named.add(name)
        return [
            name
            for name, each in found.items()
            if name in named or _is_visitors(each, clients[name])
        ]


def _is_visitors(found: set[str], clients: set[str]) -> bool:
    """Whether addresses after the request are the visitors', and those before it the proxies'."""
    if all(map(is_public, found)) and not any(map(is_public, clients)):
        return True
    if len(found) == 1 and len(clients) > 1:
        return False
    return len(clients) < MANY_MORE * len(found)


def _client_column(entries: Iterable[Entry]) -> int:
    """Return the place of the visitor's field among those before the request: one with lists, or
    else the one with the most different addresses, of equal ones the last.
    """
    found: dict[int, set[str]] = defaultdict(set)
    lists: dict[int, int] = defaultdict(int)
    for entry in entries:
        for column, each in enumerate(entry.clients):
            found[column].add(first_public(each))
            lists[column] += len(each) > 1
    return max(found, key=lambda each: (lists[each] > 0, len(found[each]), each), default=0)
