"""Clients' addresses in logs: one, or the list that proxies make (`X-Forwarded-For`, RFC 7239)."""

from __future__ import annotations

import re
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

Addresses = tuple[str, ...]

_NONE = frozenset({"", "-", "unknown", "_hidden", "null", "none"})
_INNER = tuple(
    map(
        ip_network,
        (
            *("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "127.0.0.0/8", "169.254.0.0/16"),
            *("100.64.0.0/10", "0.0.0.0/8", "fc00::/7", "fe80::/10", "::1/128", "::/128"),
        ),
    )
)
"""Networks that are not reached from elsewhere. The networks for examples (RFC 5737) are not among
them, unlike in `ipaddress.is_private`: anonymised logs use them for clients."""
_WITH_PORT = re.compile(r"\[(?P<six>[^\]]+)\](?::\d+)?|(?P<four>\d+\.\d+\.\d+\.\d+):\d+")
_MOST_CHARACTERS = 1000


@lru_cache(maxsize=65536)
def addresses(text: str) -> Addresses:
    """Return the addresses of a list in their order, without ports; empty where the text is
    anything else. Elements such as `unknown` and `-` are left out.
    """
    if len(text) > _MOST_CHARACTERS:
        return ()
    found = []
    for element in text.strip(' "').split(","):
        plain = _named(element).strip(" \t\"'")
        if plain.lower() in _NONE:
            continue
        address = _address(plain)
        if address is None:
            return ()
        found.append(address)
    return tuple(found)


@lru_cache(maxsize=65536)
def is_public(address: str) -> bool:
    """Whether an address may be one that a client has on the internet."""
    try:
        plain = ip_address(address)
    except ValueError:
        return False
    return not any(plain.version == inner.version and _within(address, inner) for inner in _INNER)


def is_none(text: str) -> bool:
    """Whether a client's field says that the client is not known."""
    return text.strip(' "').lower() in _NONE


def has_port(text: str) -> bool:
    """Whether a text is one address with a port."""
    return _WITH_PORT.fullmatch(text) is not None and not text.endswith("]")


def first_public(found: Addresses) -> str:
    """Return the first public address, or the first one where none is public; empty without any."""
    return next((each for each in found if is_public(each)), found[0] if found else "")


def _within(address: str, network: IPv4Network | IPv6Network) -> bool:
    return ip_address(address) in network


def _named(element: str) -> str:
    """Return the address of an element as RFC 7239 writes it: `for="[2001:db8::1]";proto=https`."""
    if "=" not in element:
        return element
    pairs = (pair.partition("=") for pair in element.split(";"))
    return next((after for name, _, after in pairs if name.strip().lower() == "for"), "")


def _address(text: str) -> str | None:
    found = _WITH_PORT.fullmatch(text)
    if found is not None:
        text = found["six"] or found["four"]
    try:
        plain = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    mapped = plain.ipv4_mapped if isinstance(plain, IPv6Address) else None
    return str(mapped or plain)
