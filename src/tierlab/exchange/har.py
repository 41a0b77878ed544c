"""HAR 1.2 files, which browsers write of what they sent and got.

Source: W3C Web Performance Working Group, HTTP Archive (HAR) format, editor's draft of 2012; what
Chromium adds begins with an underscore. Proxies and test tools write the format with liberties: an
entry that cannot be read is left out and counted, and only a file most of whose entries cannot be
read is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, quote, urlencode, urlsplit

from tierlab.errors import UserError
from tierlab.exchange.har_body import body_of, from_base64
from tierlab.exchange.har_dates import JUMP_NS, Starts, nanoseconds, starts
from tierlab.exchange.har_fields import (
    Pairs,
    as_number,
    as_pairs,
    as_table,
    clean,
    counted,
    header,
    media_type,
    shown,
)
from tierlab.exchange.har_file import read_entries
from tierlab.exchange.har_streams import UNKNOWN_TYPES, Stream, stream_of

MOST_UNREAD = 0.5
"""A file of which a larger share of the entries cannot be read is refused."""
MOST_NUMBERS = 5
"""Entries that a sentence lists."""
STATUSES = range(100, 1000)
OF_HOSTS = ("", "http", "https", "ws", "wss")
"""Schemes of addresses that have a host."""


@dataclass(frozen=True)
class Exchange:
    """A request and its reply, as a browser saw them. Times are nanoseconds since the epoch."""

    number: int
    """Of its entry in the file, from 1."""
    start_ns: int
    end_ns: int
    method: str
    scheme: str
    host: str
    """With the port where it is said."""
    target: str
    """Path and query as they were sent."""
    headers: tuple[tuple[str, str], ...]
    body: str | None
    body_type: str
    """Without parameters, in lower case; empty where there is no body."""
    content_type: str
    """Of the body, as it was sent: with its parameters; empty where none was said."""
    lacking: str
    """What of the body is not in the recording, in the words after "lacks"; empty if nothing."""
    status: int
    """0 where no reply came."""
    location: str
    """Where the reply sent the browser; empty where nowhere."""
    reply: str
    """Its text; empty where the file has none, or it is none."""
    reply_type: str
    reply_size: int
    """Bytes of its text by what the recording says; 0 where it does not."""
    stream: Stream
    """What it is instead of a request and its reply; empty where it is one."""
    resource: str
    """What the browser wanted it for, by Chromium's names; empty where the file does not say."""
    cookies: tuple[tuple[str, str], ...]
    """Those sent."""


@dataclass(frozen=True)
class Recording:
    """What a file has."""

    exchanges: tuple[Exchange, ...]
    """In the order of their starts."""
    notes: tuple[str, ...]
    """What could not be read, and what to do: sentences without a full stop."""


@dataclass(frozen=True)
class _Entry:
    """An entry that has an address."""

    number: int
    table: Mapping[str, Any]
    url: SplitResult


@dataclass(frozen=True)
class _Unread:
    """An entry that is left out."""

    number: int
    address: str
    what: str
    """What is wrong with it."""


def read_har(path: Path) -> tuple[Exchange, ...]:
    """Return the exchanges of a file in the order of their starts. Raises UserError where it is no
    HAR file, or most of its entries cannot be read.
    """
    return read_recording(path).exchanges


def read_recording(path: Path) -> Recording:
    """Return the exchanges of a file, and what of it could not be read. Raises UserError where it
    is no HAR file, or most of its entries cannot be read.
    """
    file = read_entries(path)
    entries: list[_Entry] = []
    unread: list[_Unread] = []
    for number, table in enumerate(file.listed, start=1):
        try:
            entries.append(_Entry(number, table, _url(table)))
        except ValueError as error:
            unread.append(_Unread(number, _address(table), str(error)))
    if len(unread) > MOST_UNREAD * len(file.listed):
        first = unread[0]
        share = f"{len(unread)} of its {len(file.listed)} requests cannot be read"
        raise UserError(
            f"{path}: request {first.number} is not of HAR's form ({first.what}), and {share}; save"
            " the file anew."
        )
    dates = [nanoseconds(each.table.get("startedDateTime")) for each in entries]
    lengths = [_length_ns(each.table) for each in entries]
    began = starts(dates, lengths)
    found = [
        _exchange(entry, start_ns, start_ns + length_ns)
        for entry, start_ns, length_ns in zip(entries, began.at_ns, lengths, strict=True)
    ]
    notes = [*file.notes, *_unread(unread, len(file.listed)), *_badly_dated(entries, began)]
    return Recording(tuple(sorted(found, key=lambda each: each.start_ns)), tuple(notes))


def _unread(unread: Sequence[_Unread], count: int) -> Iterator[str]:
    if not unread:
        return
    first, others = unread[0], [str(each.number) for each in unread[1:]]
    listed = ", ".join(others[:MOST_NUMBERS])
    more = f" and {len(others) - MOST_NUMBERS} more" if len(others) > MOST_NUMBERS else ""
    yield (
        f"{len(unread)} of {counted(count, 'entry', 'entries')} cannot be read and"
        f" {'is' if len(unread) == 1 else 'are'} left out: entry {first.number}"
        f"{f' ({first.address})' if first.address else ''}, since {first.what}"
        f"{f'; and entries {listed}{more}' if others else ''}; record the visit again if your"
        " application is to get them"
    )


def _badly_dated(entries: Sequence[_Entry], began: Starts) -> Iterator[str]:
    def told(number: int) -> str:
        entry = entries[number]
        return f"entry {entry.number} has {shown(repr(entry.table.get('startedDateTime')))}"

    if began.undated:
        yield (
            f"{len(began.undated)} of {counted(len(entries), 'request')} cannot be dated ("
            f"{told(began.undated[0])}): each keeps its place in the file, and users do not"
            ' pause before it; correct the dates, or set think = "load", if the pause matters'
        )
    if began.jumps:
        times = "once" if len(began.jumps) == 1 else f"{len(began.jumps)} times"
        yield (
            f"the dates jump by more than a day {times} ({told(began.jumps[0])}): the requests keep"
            " their order in the file, and users do not pause there; correct the dates, or set"
            ' think = "load", if the pause matters'
        )


def _url(entry: Any) -> SplitResult:
    """The address of an entry; `ValueError` says why it has none that can be asked for."""
    request = entry.get("request") if isinstance(entry, Mapping) else None
    if not isinstance(request, Mapping):
        raise ValueError("it has no request")
    said, method = request.get("url"), request.get("method")
    if not isinstance(said, str) or not said.strip():
        raise ValueError("its request has no url")
    if not isinstance(method, str) or not method.strip():
        raise ValueError("its request has no method")
    text = said.strip()
    host = header(as_pairs(request.get("headers")), "host")
    if text.startswith("/") and not text.startswith("//") and host:
        text = f"http://{host}{text}"
    try:
        url = urlsplit(text)
        has_host = url.hostname is not None and url.port != 0
    except ValueError as error:
        raise ValueError(f"its url is malformed ({error})") from None
    if not has_host and url.scheme in OF_HOSTS and method.strip().upper() != "CONNECT":
        raise ValueError("its url has no host")
    return url


def _address(entry: Any) -> str:
    """The method and host of an entry that cannot be read: the rest may have secrets in it."""
    request = as_table(as_table(entry).get("request"))
    url = str(request.get("url") or "")
    scheme, mark, rest = url.partition("?")[0].partition("#")[0].partition("//")
    host, slash, _ = rest.partition("/")
    return shown(f"{request.get('method') or ''} {scheme}{mark}{host.rpartition('@')[2]}{slash}")


def _exchange(entry: _Entry, start_ns: int, end_ns: int) -> Exchange:
    request, reply = as_table(entry.table["request"]), as_table(entry.table.get("response"))
    headers, answers = as_pairs(request.get("headers")), as_pairs(reply.get("headers"))
    answer, posted = as_table(reply.get("content")), request.get("postData")
    body = body_of(posted, headers, int(as_number(request.get("bodySize"))))
    status = int(as_number(reply.get("status")))
    reply_type = media_type(answer.get("mimeType"))
    if reply_type in UNKNOWN_TYPES:
        reply_type = media_type(header(answers, "content-type"))
    return Exchange(
        number=entry.number,
        start_ns=start_ns,
        end_ns=end_ns,
        method=request["method"].strip().upper(),
        scheme=entry.url.scheme,
        host=clean(entry.url.netloc.rpartition("@")[2]),
        target=_target(entry.url, as_pairs(request.get("queryString"))),
        headers=headers,
        body=None if body.text is None else clean(body.text),
        body_type=media_type(as_table(posted).get("mimeType") or body.content_type),
        content_type=clean(body.content_type),
        lacking=body.lacking,
        status=status if status in STATUSES else 0,
        location=clean(str(reply.get("redirectURL") or header(answers, "location"))),
        reply=clean(_text(answer)),
        reply_type=reply_type,
        reply_size=max(0, int(as_number(answer.get("size")))),
        stream=stream_of(entry.table, entry.url.scheme, headers, answers, status),
        resource=str(entry.table.get("_resourceType") or "").strip().lower(),
        cookies=as_pairs(request.get("cookies")),
    )


def _length_ns(entry: Mapping[str, Any]) -> int:
    """How long an exchange took: its `time`, or else the sum of its parts; 0 for more than a day,
    which no exchange takes.
    """
    length_ms = as_number(entry.get("time"))
    if length_ms <= 0:
        timings = as_table(entry.get("timings"))
        parts = ("blocked", "dns", "connect", "send", "wait", "receive")
        length_ms = sum(max(0.0, as_number(timings.get(part))) for part in parts)
    return round(length_ms * 1e6) if length_ms * 1e6 < JUMP_NS else 0


def _target(url: SplitResult, listed: Pairs) -> str:
    """Path and query, with what must not stand in a request's first line encoded. Some tools have
    the query in its list alone.
    """
    query = url.query or urlencode(listed)
    target = (url.path or "/") + (f"?{query}" if query else "")
    return "".join(each if "!" <= each <= "~" else quote(each, errors="replace") for each in target)


def _text(answer: Mapping[str, Any]) -> str:
    """The text of a reply; empty where it has none."""
    text = answer.get("text")
    if not isinstance(text, str):
        return ""
    if str(answer.get("encoding") or "").lower() != "base64":
        return text
    data = from_base64(text)
    return "" if data is None else data.decode("utf-8", errors="replace")
