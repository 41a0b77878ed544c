"""Lines of text with a request in quotes: the common and the combined format of Apache and nginx,
and what servers and people make of them.

Source: Apache HTTP Server's documentation of mod_log_config; nginx's `combined` is the same. Known
additions: a list of forwarded addresses as the first or a later field, the virtual host or a
collector's prefix in front, numbers and other fields before the request or at the end, users with
blanks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from tierlab.exchange.log_lines.addresses import Addresses, addresses, has_port, is_none, is_public
from tierlab.exchange.log_lines.entry import Entry, is_status, request_parts, value
from tierlab.exchange.log_lines.times import CLF, ISO, time_ns

COMMON = "common or combined"
_TIME = re.compile(rf"\[(?P<common>{CLF})\]|\[(?P<iso>{ISO})\]")
_BARE_TIME = re.compile(rf"(?<!\S)(?:{CLF}|{ISO})(?!\S)")
_FIELD = re.compile(r'"((?:[^"\\]|\\.)*)"|\[([^\]]*)\]|([^\s"]\S*)')
_REQUEST = re.compile(r"[A-Z][A-Z_-]{1,19} \S.*", re.DOTALL)
_AGENT = re.compile(r"[A-Za-z][\w.+-]*(?: [\w.+-]+){0,3}/v?\d")
"""A product with its version, by which browsers and programs are told (RFC 9110, 10.1.5)."""
_PREFIX = re.compile(
    r"(?:\S+ +\| |"  # docker compose
    r"\d{4}-\d\d-\d\dT\S+ (?:stdout|stderr) [FP] |"  # container runtimes
    r"(?:<\d+>)?(?:[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d|\d{4}-\d\d-\d\dT\S+) \S+ \S+: |"  # syslog
    r"<\d+>1 \S+ \S+ \S+ \S+ \S+ (?:-|\[.*?\]) )"  # RFC 5424
)
_VIRTUAL_HOST = re.compile(r"(?P<host>[A-Za-z0-9.-]*[A-Za-z][A-Za-z0-9.-]*)(?P<port>:\d+)?")

Field = tuple[bool, str]
"""Whether it stands in quotes, and what it says."""


def without_prefix(text: str) -> str:
    """Return a line without what a collector of logs put in front."""
    while (found := _PREFIX.match(text)) is not None:
        text = text[found.end() :]
    return text


def text_entry(text: str) -> Entry | None:
    """Return the request of a line; None where it has no time, request or status."""
    found = _TIME.search(text) or _BARE_TIME.search(without_prefix(text))
    if found is None:
        return None
    at = time_ns(found[0])
    before, after = found.string[: found.start()], found.string[found.end() :]
    fields = [(each[1] is not None, each[each.lastindex or 0]) for each in _FIELD.finditer(after)]
    place = _request(fields)
    if at is None or place is None:
        return None
    number, status = place
    method, target, host = request_parts(fields[number][1])
    head, between = _head(before), _joined(fields[:number])
    if not any(addresses(each) for each in head):
        head += [text for quoted, text in between if not quoted]
    clients, user, virtual_host = _who(head)
    quoted = [(True, each) for is_quoted, each in between if is_quoted]
    quoted += [(True, each) for _, each in fields[number + 1 : status]]
    rest = quoted + _joined(fields[status + 1 :])
    forwarded = _forwarded(rest)
    agent = _agent([each for is_quoted, each in rest if is_quoted and not addresses(each)])
    return Entry(
        time_ns=at,
        clients=clients,
        forwarded=forwarded,
        user=user,
        agent=agent,
        method=method,
        target=target,
        host=host or virtual_host,
        status=int(fields[status][1]),
        form=COMMON,
    )


def is_agent(text: str) -> bool:
    """Whether a text looks like the name of a browser or a program."""
    return _AGENT.match(text) is not None


def _request(fields: Sequence[Field]) -> tuple[int, int] | None:
    """Return where the request and its status are. Nothing but quoted fields is between them. Of
    several, the request is the one that looks like it, or else the first.
    """
    found = []
    for number, (quoted, text) in enumerate(fields):
        if quoted and (status := _status(fields, number)) is not None:
            found.append((number, status))
            if _REQUEST.fullmatch(text):
                return number, status
    return found[0] if found else None


def _status(fields: Sequence[Field], request: int) -> int | None:
    for number in range(request + 1, len(fields)):
        quoted, text = fields[number]
        if is_status(text):
            return number
        if not quoted:
            return None
    return None


def _head(text: str) -> list[str]:
    """Return the fields before the time; elements of a list with commas are one."""
    return [each for _, each in _joined([(False, each) for each in text.split()])]


def _joined(fields: Sequence[Field]) -> list[Field]:
    joined: list[Field] = []
    for quoted, text in fields:
        if joined and not quoted and joined[-1][1].endswith(",") and not joined[-1][0]:
            joined[-1] = (False, f"{joined[-1][1]} {text}")
        else:
            joined.append((quoted, text))
    return joined


def _who(head: Sequence[str]) -> tuple[tuple[Addresses, ...], str, str]:
    """Return the fields that may be the client's address, the user and the virtual host."""
    places = [number for number, each in enumerate(head) if addresses(each)]
    if places:
        first, last = places[0], places[-1]
        clients = [addresses(head[number]) for number in places]
        if first and is_none(head[0]):
            clients.insert(0, ())
        host = head[first - 1] if first == 1 or (first and ":" in head[first - 1]) else ""
        return tuple(clients), _user(head[last + 1 :]), _virtual_host(host)
    head = without_prefix(" ".join(head)).split()
    host = ""
    if len(head) > 3 and (found := _VIRTUAL_HOST.fullmatch(head[0])) and found["port"]:
        host, head = found["host"], head[1:]
    if not head or is_none(head[0].rstrip(",")):
        return ((),), _user(head[1:]), host
    return ((head[0],),), _user(head[1:]), host


def _user(fields: Sequence[str]) -> str:
    """Return the user of the fields behind the address: what the identity leaves."""
    return value(" ".join(fields[1:]).replace('"', "").replace("\\", ""))


def _virtual_host(text: str) -> str:
    found = _VIRTUAL_HOST.fullmatch(text)
    return found["host"] if found and (found["port"] or "." in text) else ""


def _forwarded(fields: Sequence[Field]) -> tuple[tuple[str, Addresses], ...]:
    """Return the lists of addresses by place. The addresses of servers behind a proxy are not among
    them: these are inner ones with a port.
    """
    return tuple(
        (f"field {number} behind the status", found)
        for number, (_, text) in enumerate(fields, 1)
        if (found := addresses(text)) and not (has_port(text) and not is_public(found[0]))
    )


def _agent(quoted: Sequence[str]) -> str:
    """Return the browser of the quoted fields: the one that looks like it, or else the second, as
    the combined format has it.
    """
    for text in quoted:
        if is_agent(text):
            return text
    plain = quoted[1:2] or quoted[:1]
    return value(plain[0]) if plain and "://" not in plain[0] else ""
