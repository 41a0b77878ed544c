"""Requests in JSON, one a line: nginx with keys of one's own, Caddy, Traefik, and their like.

Keys are recognised by what they mean. What a key is called in full (`request>headers>User-Agent`)
and at its end is compared without capitals and signs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tierlab.exchange.log_lines.addresses import addresses, is_none
from tierlab.exchange.log_lines.entry import Entry, is_status, origin_form, request_parts, value
from tierlab.exchange.log_lines.text_lines import is_agent
from tierlab.exchange.log_lines.times import time_ns

JSON = "JSON"
ROLES: Mapping[str, tuple[str, ...]] = {
    "time": (
        *("msec", "timemsec", "startutc", "startlocal", "requesttimestamp", "ts", "timestamp"),
        *("timeiso8601", "timelocal", "time", "datetime", "date", "starttime", "start", "t"),
        *("timestampms", "epoch", "unixtime", "when", "at", "eventtime", "logtime", "asctime"),
    ),
    "forwarded": (
        *("xforwardedfor", "httpxforwardedfor", "forwardedfor", "httpforwarded", "forwarded"),
        *("requestxforwardedfor", "xff", "httpcfconnectingip", "cfconnectingip", "trueclientip"),
        *("httptrueclientip", "httpxrealip", "xrealip", "realip", "realipremoteaddr"),
        *("requestxrealip", "proxyaddxforwardedfor"),
    ),
    "client": (
        *("clientip", "requestclientip", "clienthost", "clientaddr", "clientaddress", "client"),
        *("sourceip", "sourceaddress", "srcip", "remoteaddr", "remoteaddress", "remoteip"),
        *("remotehost", "remote", "ip", "ipaddress", "addr", "visitor", "cip", "peer", "h"),
    ),
    "line": ("request", "requestline", "httprequest", "req", "r", "line", "firstline"),
    "method": ("requestmethod", "method", "httpmethod", "verb", "httprequestmethod", "m"),
    "target": (
        *("requesturi", "urloriginal", "originalurl", "uri", "requestpath", "url", "target"),
        *("requesturl", "path", "urlpath", "httptarget", "httpurl", "pathname", "u"),
    ),
    "query": ("args", "querystring", "query", "urlquery", "isargs", "q"),
    "status": (
        *("downstreamstatus", "status", "statuscode", "httpstatus", "responsestatus"),
        *("responsecode", "responsestatuscode", "httpresponsestatuscode", "httpstatuscode"),
        *("originstatus", "code", "scstatus", "s"),
    ),
    "agent": (
        *("httpuseragent", "useragent", "useragentoriginal", "requestuseragent", "agent"),
        *("httpagent", "ua", "browser", "requestheadersuseragent"),
    ),
    "user": ("remoteuser", "clientusername", "username", "user", "userid", "authuser"),
    "host": (
        *("httphost", "requesthost", "host", "servername", "vhost", "virtualhost", "hostname"),
        *("urldomain", "domain", "authority"),
    ),
}
"""The names of a request's parts, the better ones first."""
WRAPPED = ("log", "message", "msg", "MESSAGE", "line", "textPayload")
"""Keys by which collectors keep the line of another format."""
_NOT_LETTERS = re.compile(r"[^a-z0-9]")
_REPLY = re.compile(r"resp(?:onse)?_?(?:headers|header)|downstream_|origin_|upstream", re.I)
_NOT_CLIENT = re.compile(r"server|upstream|local|backend|host$|dest|proxy", re.I)
_MOST_DEPTH = 6

Fields = list[tuple[str, str | int | float]]
Roles = dict[str, list[int]]


class JsonLog:
    """Reads lines of JSON; it remembers which keys are which."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, ...], Roles] = {}
        self.lacking: set[str] = set()
        """What the last line that is no request lacks, in the words of the roles."""
        self.keys: tuple[str, ...] = ()
        """The keys of that line."""

    def entry(self, found: Mapping[str, Any]) -> Entry | None:
        """Return the request of an object; None without a time, a request or a status."""
        fields = list(_flat(found))
        keys = tuple(key for key, _ in fields)
        roles = self._known.get(keys)
        if roles is None:
            roles = _roles(fields)
            if len(self._known) < 1000 and not _lacking(roles):
                self._known[keys] = roles
        self.lacking, self.keys = _lacking(roles), keys
        if self.lacking:
            return None
        return _entry(fields, roles)


def json_object(text: str) -> Mapping[str, Any] | None:
    """Return the object of a line, which may have a collector's prefix; None where it has none."""
    at = text.find("{")
    if not 0 <= at < 300 or not text.rstrip().endswith("}"):
        return None
    try:
        found = json.loads(text[at:])
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def wrapped(found: Mapping[str, Any]) -> str | None:
    """Return the line of another format that a collector has put into an object; None without."""
    for key in WRAPPED:
        text = found.get(key)
        if isinstance(text, str) and re.search(r"[\"{ ]", text):
            return text
    return None


def looks_like_request(found: Mapping[str, Any]) -> bool:
    """Whether an object seems to tell of a request: it has a status, and a method or a target."""
    roles = _roles(list(_flat(found)))
    return "status" in roles and any(role in roles for role in ("method", "target", "line"))


def is_of_program(found: Mapping[str, Any]) -> bool:
    """Whether an object is a message of Caddy's about a request whose own line follows."""
    logger = found.get("logger")
    return (
        isinstance(logger, str)
        and logger.startswith("http.")
        and not logger.startswith("http.log.access")
    )


def _flat(found: Mapping[str, Any], lead: str = "", depth: int = 0) -> Iterator[Any]:
    for key, each in found.items():
        name = f"{lead}{key}"
        if isinstance(each, dict):
            if depth < _MOST_DEPTH:
                yield from _flat(each, f"{name}>", depth + 1)
        elif isinstance(each, list):
            yield name, ", ".join(map(str, each))
        elif isinstance(each, str | int | float) and not isinstance(each, bool):
            yield name, each


def _roles(fields: Fields) -> Roles:
    """Return which fields have which role, the better ones first."""
    names = [(number, _names(key)) for number, (key, _) in enumerate(fields) if not _of_reply(key)]
    roles: Roles = {}
    for role, known in ROLES.items():
        fits = _FITS.get(role)
        ranked = sorted(
            (min(ranks), fields[number][0].count(">"), number)
            for number, each in names
            if (ranks := [known.index(name) for name in each if name in known])
            and (fits is None or fits(fields[number][1]) or _empty(fields[number][1]))
        )
        if ranked:
            roles[role] = [number for _, _, number in ranked]
    for role, is_of in _BY_VALUE.items():
        if role not in roles:
            alike = [number for number, (key, each) in enumerate(fields) if is_of(key, each)]
            if alike:
                roles[role] = alike
    return roles


def _names(key: str) -> set[str]:
    """Return the names by which a key is compared: in full, its end, and its last two parts."""
    parts = [_NOT_LETTERS.sub("", part.lower()) for part in key.replace(".", ">").split(">")]
    found = {"".join(parts), parts[-1], "".join(parts[-2:])}
    if key.lower().startswith("request_"):
        found.add("".join(parts).removeprefix("request"))
    return found


def _of_reply(key: str) -> bool:
    """Whether a key is of a reply's headers or of a server behind a proxy."""
    plain = key.lower()
    return _REPLY.match(plain) is not None and "status" not in plain


def _empty(text: object) -> bool:
    return isinstance(text, str) and value(text) == ""


def _is_line(text: object) -> bool:
    return isinstance(text, str) and re.match(r"[A-Z]{3,10} \S", text) is not None


def _is_target(text: object) -> bool:
    return isinstance(text, str) and text.lower().startswith(("/", "http://", "https://", "*"))


def _is_time(text: object) -> bool:
    return time_ns(text) is not None


def _is_status(text: object) -> bool:
    return is_status(str(text).removesuffix(".0")) or text == 0


def _is_client(text: object) -> bool:
    return isinstance(text, str) and (bool(addresses(text)) or is_none(text) or " " not in text)


_FITS: Mapping[str, Callable[[object], bool]] = {
    "time": _is_time,
    "line": _is_line,
    "target": _is_target,
    "status": _is_status,
    "client": _is_client,
    "method": lambda text: isinstance(text, str) and text.isalpha(),
}
_BY_VALUE: Mapping[str, Callable[[str, object], bool]] = {
    "time": lambda _, text: isinstance(text, str) and _is_time(text),
    "line": lambda _, text: _is_line(text) and " HTTP/" in str(text),
    "status": lambda key, text: "status" in key.lower() and _is_status(text),
    "client": lambda key, text: (
        isinstance(text, str) and bool(addresses(text)) and not _NOT_CLIENT.search(key)
    ),
    "agent": lambda _, text: isinstance(text, str) and is_agent(text) and "/" in text,
}
"""How a part is recognised in a field of any name."""


def _lacking(roles: Roles) -> set[str]:
    lacking = {role for role in ("time", "status") if role not in roles}
    if "line" not in roles and not {"method", "target"} <= roles.keys():
        lacking.add("request")
    return lacking


def _entry(fields: Fields, roles: Roles) -> Entry | None:
    def texts(role: str) -> list[str]:
        return [str(fields[number][1]) for number in roles.get(role, ())]

    def first(role: str) -> str:
        return next((found for text in texts(role) if (found := value(text))), "")

    times = (time_ns(fields[number][1]) for number in roles["time"])
    at = next((found for found in times if found is not None), None)
    status = first("status").removesuffix(".0")
    if at is None or not (is_status(status) or status == "0"):
        return None
    method, target, host = _request(first)
    clients = texts("client")
    found = next((lists for text in clients if (lists := addresses(text))), None)
    named = [text for text in clients if not is_none(text)]
    return Entry(
        time_ns=at,
        clients=(found if found is not None else tuple(named[:1]),),
        forwarded=tuple(
            (fields[number][0].replace(">", "."), lists)
            for number in roles.get("forwarded", ())
            if (lists := addresses(str(fields[number][1])))
        ),
        user=first("user"),
        agent=first("agent"),
        method=method,
        target=target,
        host=host or first("host").partition(":")[0],
        status=int(status),
        form=JSON,
    )


def _request(first: Callable[[str], str]) -> tuple[str, str, str]:
    """Return the method, the target and the host. The request line has the target as it was sent;
    without it, the query may be a field of its own.
    """
    if line := first("line"):
        return request_parts(line)
    target, host = origin_form(first("target"))
    query = first("query").lstrip("?")
    if query and "?" not in target:
        target = f"{target}?{query}"
    return first("method").upper(), target, host
