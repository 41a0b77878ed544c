"""Which of a recording's hosts is the application: a browser asks many besides."""

from __future__ import annotations

import ipaddress
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import urlsplit

from tierlab.exchange.har import Exchange

PAGES = ("text/html", "application/xhtml+xml")
PROGRAMS = ("xhr", "fetch", "ping", "beacon")
"""Chromium's words for what a page's program asks for."""
FRAMES = ("iframe", "frame", "embed", "object", "fencedframe", "empty")
"""What `Sec-Fetch-Dest` says of what is not the page itself."""
LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]", "0.0.0.0"})
USUAL_PORTS = frozenset({"", "80", "443"})
LOCAL_NAMES = re.compile(r"(?:.+\.)?(?:localhost|local|test|internal|lan|home\.arpa)|[^.]+")
WELL = range(200, 300)
NOT_MODIFIED = 304


@dataclass(frozen=True)
class Site:
    """A host under all names that a browser has for it: with and without `www.`, in capitals, with
    the port that it has anyway, and this machine's own.
    """

    name: str
    """As the first request has it."""
    names: tuple[str, ...]
    """All, in lower case and without the usual port."""

    def has(self, exchange: Exchange) -> bool:
        """Return whether it is a request to this host."""
        return host_key(exchange.host) == host_key(self.name)


def site_of(asked: Sequence[Exchange], resources: Sequence[Exchange]) -> Site:
    """Return the host that most of the visit went to.

    1. Each page counts for its host, and each request of a page's program for the host of the page
       that made it, wherever the request went. So neither an API, nor a service that counts
       visitors, nor a host of pictures is taken for the site.
    2. Of hosts that are equal: one on this machine or in a private network, then the one with more
       requests of all kinds, then the first.
    3. A recording without pages: the host with most requests of programs.

    `asked` are the requests that got a reply and are no styles, scripts or pictures, at least one;
    `resources` are those.
    """
    pages = Counter(host_key(each.host) for each in asked if _is_page(each))
    weights: Counter[str] = Counter()
    last = next(iter(pages), "")
    for each in asked:
        key = host_key(each.host)
        if _is_page(each):
            last = key
        elif pages:
            key = _made_by(each, pages, last)
        if each.status in WELL or each.status == NOT_MODIFIED:
            weights[key] += 1
    total = Counter(host_key(each.host) for each in (*asked, *resources))
    keys = dict.fromkeys(host_key(each.host) for each in asked)
    best = max(keys, key=lambda key: (weights[key], is_local(key), total[key]))
    names = dict.fromkeys(_plain(each.host) for each in asked if host_key(each.host) == best)
    first = next(each.host for each in asked if host_key(each.host) == best)
    return Site(first, tuple(names))


@lru_cache(maxsize=4096)
def host_key(host: str) -> str:
    """Return what a host has in common under all of its names."""
    name, colon, port = _plain(host).partition("]")
    if colon:
        name, port = f"{name}]", port.removeprefix(":")
    else:
        name, _, port = name.partition(":")
    name = name.removeprefix("www.")
    name = "localhost" if name in LOOPBACK else name
    return f"{name}:{port}" if port else name


def port_of(host: str) -> int | None:
    """Return the port of a host as `host_key` has it, 80 if it has none; None if it is no port."""
    try:
        return urlsplit(f"//{host}").port or 80
    except ValueError:
        return None


@lru_cache(maxsize=4096)
def is_local(host: str) -> bool:
    """Return whether a host is on this machine or in a private network, by its name or address."""
    name = host_name(host)
    try:
        return not ipaddress.ip_address(name.strip("[]")).is_global
    except ValueError:
        return LOCAL_NAMES.fullmatch(name) is not None


def host_name(host: str) -> str:
    """Return a host without its port."""
    key = host_key(host)
    return f"{key.partition(']')[0]}]" if key.startswith("[") else key.partition(":")[0]


def is_near(host: str, other: str) -> bool:
    """Return whether two hosts are likely of one application: of one name, of one domain, or both
    local.
    """
    one, two = host_name(host), host_name(other)
    if one == two or (is_local(one) and is_local(two)):
        return True
    return one.count(".") > 0 and one.split(".")[-2:] == two.split(".")[-2:]


def _plain(host: str) -> str:
    """A host in lower case, without the usual port."""
    name, colon, port = host.lower().rpartition(":")
    if not colon or "]" in port:
        return host.lower().rstrip(".")
    name = name.rstrip(".")
    return name if port in USUAL_PORTS else f"{name}:{port}"


def _is_page(exchange: Exchange) -> bool:
    said = {name.lower(): value.lower() for name, value in exchange.headers}
    if said.get("sec-fetch-dest") in FRAMES or exchange.resource in PROGRAMS:
        return False
    if said.get("x-requested-with") == "xmlhttprequest":
        return False
    return exchange.resource == "document" or exchange.reply_type in PAGES


def _made_by(exchange: Exchange, pages: Counter[str], last: str) -> str:
    """The host of the page whose program made a request."""
    own = host_key(exchange.host)
    for wanted in ("origin", "referer"):
        for name, value in exchange.headers:
            if name.lower() == wanted and (key := _host_of(value)) in pages:
                return key
    return own if own in pages else last


def _host_of(address: str) -> str:
    try:
        return host_key(urlsplit(address).netloc.rpartition("@")[2])
    except ValueError:
        return ""
