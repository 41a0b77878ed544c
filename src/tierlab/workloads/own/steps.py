"""What a recorded visit consists of: the requests of its pages in order, each with what belongs to
it, and how long its user thought after it; and what of the recording is left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urljoin, urlsplit

from tierlab.errors import UserError
from tierlab.exchange.har import Exchange
from tierlab.values.quantities import SECOND
from tierlab.workloads.own.site import PAGES, Site, host_key, site_of

RESOURCES = frozenset({"stylesheet", "script", "image", "font", "media", "manifest"})
"""Chromium's words for what belongs to a page."""
RESOURCE_TYPES = ("image/", "font/", "text/css", "audio/", "video/")
RESOURCE_ENDS = (
    *(".css", ".js", ".mjs", ".png", ".jpg", ".jpeg", ".gif", ".svg", ".ico", ".webp"),
    *(".woff", ".woff2", ".ttf", ".map"),
)
FAILED = 400
"""A status from which on a request failed as it was recorded: nobody asks for it again."""
REDIRECTIONS = frozenset({301, 302, 303, 307, 308})
METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE"})
SOONEST_NS = 200_000_000
"""A request that comes sooner after the one before is the page's own doing: nobody thought."""
LONGEST_THINK_S = 600
"""A longer pause was none of thinking; logs have the same limit."""
OPEN_NS, WENT_ON_NS = 10 * SECOND, 5 * SECOND
"""Who waits for what comes to pass asks for it, and goes on: a request that was open for the first,
and during which the user went on after the second, was waited for by nobody.
"""

NO_SERVERS: Mapping[str, str] = {}

Reason = Literal["elsewhere", "stream", "unanswered", "method", "open", "failed"]
"""Why a request is left out: it went to another host, is no request and reply, got no reply, is of
a method that users do not send, was open while the user went on, or failed.
"""


@dataclass(frozen=True)
class Step:
    """A request that users send as a whole: a page, or what a page's program asks for."""

    exchange: Exchange
    replies: tuple[Exchange, ...]
    """Its reply, last of those that sent the browser on."""
    resources: tuple[str, ...]
    """Targets of what belongs to the page, as the page has them."""
    failed: tuple[str, ...]
    """Targets of what failed after it, or whenever the visit asked for it: which page had wanted
    it, a recording does not say."""
    think_ns: int
    server: str | None = None
    """The server that it is asked of, if that is not the site."""

    @property
    def status(self) -> int:
        """Of the last reply."""
        return self.replies[-1].status

    @property
    def text(self) -> str:
        """Of the last reply."""
        return self.replies[-1].reply


@dataclass(frozen=True)
class Visit:
    """A recording as users repeat it."""

    site: Site
    steps: tuple[Step, ...]
    left_out: Mapping[Reason, tuple[Exchange, ...]]
    """Requests that are not repeated; pages and what their programs ask for, styles and pictures of
    other hosts."""
    pauses_ns: tuple[int, ...]
    """Those that were longer than a think time may be."""
    asked: int
    """Requests over HTTP, and streams, of the whole recording."""


def steps(exchanges: Sequence[Exchange], source: str) -> list[Step]:
    """Return the steps of a recording. Raises UserError where there are none."""
    return list(visit(exchanges, source).steps)


def visit(
    exchanges: Sequence[Exchange], source: str, servers: Mapping[str, str] = NO_SERVERS
) -> Visit:
    """Return what users repeat of a recording, and what is left out. Raises UserError where no page
    is left. `servers`: further hosts whose requests are kept, each with the server that it is.
    """
    known = {host_key(host): server for host, server in servers.items()}
    asked = [each for each in exchanges if _is_asked(each)]
    usable = [each for each in asked if _reason(each) is None]
    pages = [each for each in usable if not is_resource(each)]
    if not pages:
        raise UserError(f"{source}: has no page; record a visit to your application.")
    site = site_of(pages, [each for each in usable if is_resource(each)])
    known.pop(host_key(site.name), None)
    further = [each for each in asked if not site.has(each)]
    # What belongs to a page is asked of the page's server.
    kept = [each for each in further if host_key(each.host) in known and not is_resource(each)]
    # Before it asks another host, a browser asks whether it may.
    numbers = {each.number for each in kept if each.method != "OPTIONS"}
    own = [each for each in asked if site.has(each) or each.number in numbers]
    elsewhere = [each for each in further if each not in kept and each.method != "OPTIONS"]
    waited = [each for each in own if _reason(each) is None]
    open_ = {each.number for each in waited if _is_open(each, waited)}
    whole = _found([each for each in waited if each.number not in open_], site)
    found = [each for each in whole if each.replies[-1].status < FAILED]
    if not found:
        raise UserError(
            f"{source}: has no page of {site.name}; record a visit to your application."
        )
    left_out: dict[Reason, list[Exchange]] = {
        "elsewhere": elsewhere,
        "open": [each for each in waited if each.number in open_],
        "failed": [each.replies[-1] for each in whole if each.replies[-1].status >= FAILED],
    }
    for each in own:
        if (reason := _reason(each)) is not None:
            left_out.setdefault(reason, []).append(each)
    pauses = _pauses(found)
    return Visit(
        site,
        _steps(whole, found, pauses, known),
        {reason: tuple(listed) for reason, listed in left_out.items() if listed},
        tuple(pause for pause in pauses if pause > LONGEST_THINK_S * SECOND),
        len(own) + len(elsewhere),
    )


def _steps(
    whole: Sequence[_Found],
    found: Sequence[_Found],
    pauses: Sequence[int],
    known: Mapping[str, str],
) -> tuple[Step, ...]:
    thinks = [min(pause, LONGEST_THINK_S * SECOND) for pause in pauses]
    thinks.append(round(sum(thinks) / len(thinks)) if thinks else 0)
    came = {target for each in whole for target in each.targets(came=True)}
    gone = [target for each in whole for target in each.targets(came=False) if target not in came]
    return tuple(
        Step(
            each.replies[0],
            tuple(each.replies),
            each.targets(came=True),
            tuple(dict.fromkeys((*each.targets(came=False), *gone))),
            think if think >= SOONEST_NS else 0,
            known.get(host_key(each.replies[0].host)),
        )
        for each, think in zip(found, thinks, strict=True)
    )


def _pauses(found: Sequence[_Found]) -> list[int]:
    """Between the end of each step and the beginning of the next."""
    nexts = [each.replies[0].start_ns for each in found[1:]]
    ends = [max(reply.end_ns for reply in each.replies) for each in found]
    return [after - end for after, end in zip(nexts, ends, strict=False)]


@dataclass
class _Found:
    """A step as it is found."""

    replies: list[Exchange]
    parts: list[list[Exchange]] = field(default_factory=list)
    """What belongs to the page, each with where replies sent the browser for it."""

    def targets(self, *, came: bool) -> tuple[str, ...]:
        """The targets of what came, or of what did not."""
        by_target = {part[0].target: False for part in self.parts}
        for part in self.parts:
            by_target[part[0].target] |= part[-1].status < FAILED
        return tuple(target for target, each in by_target.items() if each == came)


def _found(kept: Sequence[Exchange], site: Site) -> list[_Found]:
    found: list[_Found] = []
    page: _Found | None = None
    sent_on: list[list[Exchange]] = []
    before: Exchange | None = None
    for each in kept:
        if before is not None and _leads_to(before, each):
            found[-1].replies.append(each)
        elif (part := next((it for it in sent_on if _leads_on(it[-1], each)), None)) is not None:
            # Users are sent there themselves.
            part.append(each)
            continue
        elif is_resource(each):
            part = [each]
            if page is not None:
                page.parts.append(part)
            if each.status in REDIRECTIONS:
                sent_on.append(part)
            continue
        else:
            found.append(_Found([each]))
            page = found[-1] if site.has(each) else page
        before = each
    return found


def _is_asked(exchange: Exchange) -> bool:
    """Whether a browser asked a host for it."""
    schemes = ("http", "https", "ws", "wss")
    tunnel = exchange.method == "CONNECT" and not exchange.stream
    return exchange.scheme in schemes and exchange.host != "" and not tunnel


def _reason(exchange: Exchange) -> Reason | None:
    """Why users cannot repeat it; None where they can."""
    if exchange.stream:
        return "stream"
    if exchange.method not in METHODS:
        return "method"
    return None if exchange.status > 0 else "unanswered"


def _is_open(exchange: Exchange, asked: Sequence[Exchange]) -> bool:
    """Whether the user went on while it was open, as with a long poll; pages, and what belongs to
    them, are waited for.
    """
    if exchange.end_ns - exchange.start_ns < OPEN_NS or exchange.method != "GET":
        return False
    if is_resource(exchange) or exchange.resource == "document" or exchange.reply_type in PAGES:
        return False
    latest = exchange.start_ns + WENT_ON_NS
    return any(
        latest <= each.start_ns < exchange.end_ns and not is_resource(each) for each in asked
    )


def is_resource(exchange: Exchange) -> bool:
    """Return whether it belongs to a page: a style, a script, a picture."""
    if exchange.method != "GET" or exchange.resource in ("document", "xhr", "fetch"):
        return False
    path = exchange.target.partition("?")[0].lower()
    return (
        exchange.resource in RESOURCES
        or exchange.reply_type.startswith(RESOURCE_TYPES)
        or path.endswith(RESOURCE_ENDS)
    )


def _url(exchange: Exchange) -> str:
    return f"{exchange.scheme}://{exchange.host}{exchange.target}"


def _leads_to(before: Exchange, exchange: Exchange) -> bool:
    """Whether a reply sent the browser on to this."""
    if before.status not in REDIRECTIONS or not before.location:
        return False
    try:
        wanted = urlsplit(urljoin(_url(before), before.location))
    except ValueError:
        return False
    found = urlsplit(_url(exchange))
    return exchange.method == _sent_on_by(before) and (wanted.path or "/", wanted.query) == (
        found.path,
        found.query,
    )


def _leads_on(before: Exchange, exchange: Exchange) -> bool:
    """Whether the reply for what belongs to a page sent the browser on to this."""
    return before.resource == exchange.resource and _leads_to(before, exchange)


def _sent_on_by(before: Exchange) -> str:
    """The method by which a browser asks where a reply sends it (RFC 9110 section 15.4)."""
    asks = before.status == 303 or (before.status in (301, 302) and before.method == "POST")
    return "GET" if asks else before.method
