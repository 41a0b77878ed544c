"""What a recorded visit consists of: the requests of its pages in order, each with what belongs to
it, and how long its user thought after it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import urljoin, urlsplit

from tierlab.errors import UserError
from tierlab.exchange.har import Exchange

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

    @property
    def status(self) -> int:
        """Of the last reply."""
        return self.replies[-1].status

    @property
    def text(self) -> str:
        """Of the last reply."""
        return self.replies[-1].reply


def steps(exchanges: Sequence[Exchange], source: str) -> list[Step]:
    """The steps of a recording on the host of its first page; `UserError` where there are none."""
    host = _host(exchanges, source)
    kept = [each for each in exchanges if each.host == host and _counts(each)]
    whole = _found(kept)
    found = [each for each in whole if each.replies[-1].status < FAILED]
    if not found:
        raise UserError(f"{source}: has no page of {host}; record a visit to your application.")
    nexts = [each.replies[0].start_ns for each in found[1:]]
    ends = [max(reply.end_ns for reply in each.replies) for each in found]
    thinks = [after - end for after, end in zip(nexts, ends, strict=False)]
    thinks.append(round(sum(thinks) / len(thinks)) if thinks else 0)
    came = {target for each in whole for target in each.targets(came=True)}
    gone = [target for each in whole for target in each.targets(came=False) if target not in came]
    return [
        Step(
            each.replies[0],
            tuple(each.replies),
            each.targets(came=True),
            tuple(dict.fromkeys((*each.targets(came=False), *gone))),
            think if think >= SOONEST_NS else 0,
        )
        for each, think in zip(found, thinks, strict=True)
    ]


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


def _found(kept: Sequence[Exchange]) -> list[_Found]:
    found: list[_Found] = []
    sent_on: list[list[Exchange]] = []
    before: Exchange | None = None
    for each in kept:
        if before is not None and _leads_to(before, each):
            found[-1].replies.append(each)
        elif (part := next((it for it in sent_on if _leads_on(it[-1], each)), None)) is not None:
            # Users are sent there themselves.
            part.append(each)
            continue
        elif _is_resource(each):
            part = [each]
            if found:
                found[-1].parts.append(part)
            if each.status in REDIRECTIONS:
                sent_on.append(part)
            continue
        else:
            found.append(_Found([each]))
        before = each
    return found


def _host(exchanges: Sequence[Exchange], source: str) -> str:
    pages = [each for each in exchanges if _counts(each) and not _is_resource(each)]
    if not pages:
        raise UserError(f"{source}: has no page; record a visit to your application.")
    return pages[0].host


def _counts(exchange: Exchange) -> bool:
    """Whether it is a request over HTTP that got a reply."""
    wanted = exchange.scheme in ("http", "https") and exchange.method in METHODS
    wanted = wanted and exchange.host != ""
    return wanted and exchange.status > 0 and exchange.resource not in ("websocket", "eventsource")


def _is_resource(exchange: Exchange) -> bool:
    if exchange.method != "GET" or exchange.resource in ("document", "xhr", "fetch"):
        return False
    path = urlsplit(exchange.target).path.lower()
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
    wanted = urlsplit(urljoin(_url(before), before.location))
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
