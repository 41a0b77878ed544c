"""HAProxy's own format of HTTP requests (`option httplog`).

Source: HAProxy's configuration manual, section 8.2.3, HTTP log format.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tierlab.exchange.log_lines.addresses import addresses
from tierlab.exchange.log_lines.entry import Entry, request_parts
from tierlab.exchange.log_lines.text_lines import is_agent
from tierlab.exchange.log_lines.times import CLF, time_ns

HAPROXY = "HAProxy's"
_LINE = re.compile(
    rf"(?:^|\s)(?P<client>\S+?)(?::\d+)? \[(?P<time>{CLF})\] \S+ \S+/\S+"
    r" [+-]?\d+(?:/[+-]?\d+){2,6} (?P<status>\d{3}|-1) \+?\d+ (?P<rest>.*)"
)
_REQUEST = re.compile(r'"((?:[^"\\]|\\.)*)(?:"|$)')
_CAPTURED = re.compile(r"\{([^{}]*)\}")


def haproxy_entry(text: str) -> Entry | None:
    """Return the request of a line; None where it is no line of this format. Captured headers that
    are addresses or a browser are taken as these.
    """
    found = _LINE.search(text)
    request = _REQUEST.search(found["rest"]) if found else None
    at = time_ns(found["time"]) if found else None
    if found is None or request is None or at is None:
        return None
    method, target, host = request_parts(request[1])
    captured = list(captured_headers(found["rest"][: request.start()]))
    return Entry(
        time_ns=at,
        clients=(addresses(found["client"]),),
        forwarded=tuple((name, lists) for name, each in captured if (lists := addresses(each))),
        user="",
        agent=next((each for _, each in captured if is_agent(each)), ""),
        method=method,
        target=target,
        host=host,
        status=max(int(found["status"]), 0),
        form=HAPROXY,
    )


def captured_headers(text: str) -> Iterator[tuple[str, str]]:
    """Yield the headers that stand in braces with bars between them, each with a name."""
    values = [each for group in _CAPTURED.findall(text) for each in group.split("|")]
    for number, each in enumerate(values, 1):
        yield f"captured header {number}", each
