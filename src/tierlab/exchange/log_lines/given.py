"""Lines of a format that a user says as the server's configuration has it: `log_format` of nginx,
`LogFormat` of Apache, `log-format` of HAProxy.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from tierlab.errors import UserError
from tierlab.exchange.log_lines.addresses import addresses, is_none
from tierlab.exchange.log_lines.entry import Entry, is_status, origin_form, request_parts, value
from tierlab.exchange.log_lines.haproxy import captured_headers
from tierlab.exchange.log_lines.text_lines import is_agent, without_prefix
from tierlab.exchange.log_lines.times import CLF, ISO, time_ns

GIVEN = "the given one"
NGINX = {
    "client": ("remote_addr", "realip_remote_addr", "binary_remote_addr"),
    "forwarded": (
        *("http_x_forwarded_for", "proxy_add_x_forwarded_for", "http_forwarded"),
        *("http_cf_connecting_ip", "http_true_client_ip", "http_x_real_ip"),
    ),
    "time": ("time_local", "time_iso8601", "msec"),
    "line": ("request",),
    "method": ("request_method",),
    "target": ("request_uri", "uri", "document_uri"),
    "query": ("args", "query_string"),
    "status": ("status",),
    "agent": ("http_user_agent",),
    "user": ("remote_user",),
    "host": ("host", "http_host", "server_name"),
}
APACHE = {
    "client": ("h", "a", "{c}a"),
    "forwarded": (
        *("{x-forwarded-for}i", "{forwarded}i", "{cf-connecting-ip}i", "{true-client-ip}i"),
        *("{x-real-ip}i", "{x-client-ip}i"),
    ),
    "line": ("r",),
    "method": ("m",),
    "path": ("U",),
    "query": ("q",),
    "status": ("s", ">s", "<s"),
    "agent": ("{user-agent}i",),
    "user": ("u",),
    "host": ("v", "V", "{host}i"),
}
HAPROXY = {
    "client": ("ci",),
    "time": ("t", "tr", "T", "Tl", "trg", "trl", "Ts"),
    "line": ("r",),
    "method": ("HM",),
    "target": ("HU", "HPO", "HP"),
    "query": ("HQ",),
    "status": ("ST",),
    "captured": ("hr", "hrl"),
}
_NGINX_VARIABLE = re.compile(r"\$(?:\{(?P<braced>\w+)\}|(?P<plain>\w+))")
_APACHE_VARIABLE = re.compile(
    r"%(?P<condition>!?\d{3}(?:,\d{3})*)?(?P<mark>[<>])?(?P<name>(?:\{[^}]*\})?\^?[A-Za-z]{1,2}|%)"
)
_HAPROXY_VARIABLE = re.compile(r"%(?:\{[^}]*\})?(?P<name>\[[^\]]*\]|[A-Za-z]+|%)")
_OF_HAPROXY = re.compile(r"%(?:\{[^}]*\})?(?:ci|ST|tr|hr|HM|HP|ft)\b")
_DIRECTIVE = re.compile(
    r"\s*(?:log_format\s+(?P<name>\S+)|LogFormat|log-format)\s+(?P<rest>.*)", re.DOTALL
)
_PIECE = re.compile(r"'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\"", re.DOTALL)
_NEEDED = ("time", "status")
_ANY = {
    "time": rf"\[?(?:{CLF}|{ISO}|\d{{9,19}}(?:\.\d+)?|\w{{3}},? [\w: ,+-]+?)\]?",
    "status": r"\d{3}|-1?",
    "host": r"[^/\s\"]*?",
    "path": r"[^?\s\"]*",
    "target": r"(?:/|\*|https?://)[^\"]*?|-?",
    "query": r"[^\s\"]*?",
    "captured": r"\{[^{}]*\}|",
}
"""Patterns of values that are the same wherever they stand."""
_PORT = re.compile(r"_port$|^%(?:\{[^}]*\})?(?:cp|fp|bp|sp|p)$")


class GivenFormat:
    """Reads lines of one format."""

    def __init__(self, text: str) -> None:
        """Understand the format; `UserError` where it lacks a part that a load needs."""
        self._groups: dict[str, list[str]] = {}
        self._names: dict[str, str] = {}
        template = plain_format(text)
        self._pattern = re.compile("".join(self._pieces(template)).rstrip())
        lacking = [role for role in _NEEDED if role not in self._groups]
        parts = self._groups.keys()
        if "line" not in parts and not ("method" in parts and parts & {"target", "path"}):
            lacking.append("request")
        if lacking:
            raise UserError(
                f"log_format: has no {' and no '.join(lacking)} in it; give it as the server's"
                " configuration has it, for instance"
                " '$remote_addr - $remote_user [$time_local] \"$request\" $status' or"
                " '%h %l %u %t \"%r\" %>s %b'."
            )

    def entry(self, text: str) -> Entry | None:
        """Return the request of a line; None where it has another form."""
        found = self._pattern.match(text) or self._pattern.match(without_prefix(text))
        if found is None:
            return None
        at = next((ns for each in self._all(found, "time") if (ns := time_ns(each))), None)
        status = self._first(found, "status")
        if at is None or not (is_status(status) or status in ("", "-1")):
            return None
        method, target, host = self._request(found)
        client = next(iter(self._all(found, "client")), "")
        listed = [(self._names[group], found[group]) for group in self._groups.get("forwarded", ())]
        captured = list(captured_headers(" ".join(self._all(found, "captured"))))
        listed += [(name, each) for name, each in captured if not is_agent(each)]
        agents = (each for _, each in captured if is_agent(each))
        plain = addresses(client) or (() if is_none(client) else (client.strip(),))
        return Entry(
            time_ns=at,
            clients=(plain,),
            forwarded=tuple((name, lists) for name, each in listed if (lists := addresses(each))),
            user=self._first(found, "user"),
            agent=self._first(found, "agent") or next(agents, ""),
            method=method,
            target=target,
            host=host or self._first(found, "host").partition(":")[0],
            status=int(status) if status.isdigit() else 0,
            form=GIVEN,
        )

    def _request(self, found: re.Match[str]) -> tuple[str, str, str]:
        if line := self._first(found, "line"):
            return request_parts(line)
        target, host = origin_form(self._first(found, "target") or self._first(found, "path"))
        query = self._first(found, "query").lstrip("?")
        joined = f"{target}?{query}" if query and "?" not in target else target
        return self._first(found, "method").upper(), joined, host

    def _all(self, found: re.Match[str], role: str) -> Iterator[str]:
        return (found[group] for group in self._groups.get(role, ()))

    def _first(self, found: re.Match[str], role: str) -> str:
        return next((text for each in self._all(found, role) if (text := value(each))), "")

    def _pieces(self, template: str) -> Iterator[str]:
        """Yield the pieces of a pattern that matches a line of the format."""
        variables = list(_variables(template))
        starts = [start for _, _, start, _ in variables] + [len(template)]
        at = 0
        for (role, name, start, end), following in zip(variables, starts[1:], strict=True):
            yield _literal(template[at:start])
            at = end
            quoted = template[:start].endswith('"')
            text = _value(role, name, '"' if quoted else template[end:following])
            if role is not None:
                group = f"g{len(self._names)}"
                self._names[group] = name
                self._groups.setdefault(role, []).append(group)
                text = f"(?P<{group}>{text})"
            yield f'"?{text}"?' if "+Q" in name else f"(?:{text})"
        yield _literal(template[at:])
        yield r"\s*$"


def _value(role: str | None, name: str, after: str) -> str:
    """Return a pattern of a variable's value. It goes no further than to what stands after it, so
    that a line of another form is soon refused.
    """
    if role in _ANY:
        return _ANY[role]
    if _PORT.search(name):
        return r"\d+|-"
    if after.startswith('"') or "+Q" in name:
        return r'(?:[^"\\]|\\.)*?'
    if role is not None:
        return r"[^\s,]*?(?:,\s*[^\s,]+)*?" if role in ("client", "forwarded") else r".*?"
    return _other(after)


def _other(after: str) -> str:
    """Return a pattern of a value that no load needs."""
    if not after:
        return r".*?"
    # Blanks stand in lists alone.
    return r"[^\s,]*(?:,\s?[^\s,]+)*" if after[0].isspace() else rf"[^{re.escape(after[0])}]*?"


def plain_format(text: str) -> str:
    """Return the format of a directive as a configuration has it, or of the format alone."""
    found = _DIRECTIVE.fullmatch(text)
    if found is None:
        return text.strip()
    rest = re.sub(r"^escape=\w+\s+", "", found["rest"].strip())
    pieces = list(_PIECE.finditer(rest))
    if not pieces:
        return rest.replace("\\ ", " ").rstrip(";").strip()
    if found["name"] is None:
        pieces = pieces[:1]
    return "".join(_unescaped(each[1] if each[1] is not None else each[2]) for each in pieces)


def _unescaped(text: str) -> str:
    return re.sub(r"\\([\"'\\])", r"\1", text)


def _literal(text: str) -> str:
    """Return a pattern of a text between variables, in which a blank is any number of them."""
    return re.sub(r"(?:\\ |\\\t|\\t)+", r"\\s+", re.escape(_unescaped(text)))


def _variables(template: str) -> Iterator[tuple[str | None, str, int, int]]:
    """Yield the role, the name and the place of each variable."""
    if _NGINX_VARIABLE.search(template):
        for each in _NGINX_VARIABLE.finditer(template):
            name = each["braced"] or each["plain"]
            yield _role(NGINX, name.lower()), f"${name}", each.start(), each.end()
        return
    of_haproxy = _OF_HAPROXY.search(template) is not None
    for each in (_HAPROXY_VARIABLE if of_haproxy else _APACHE_VARIABLE).finditer(template):
        name = each["name"]
        if name == "%":
            continue
        role = _role(HAPROXY, name) if of_haproxy else _apache_role(name)
        yield role, each[0], each.start(), each.end()


def _apache_role(name: str) -> str | None:
    if name.endswith("t") and (name == "t" or name.startswith("{")):
        return None if "frac" in name else "time"
    return _role(APACHE, name.lower() if name.endswith("}i") else name)


def _role(known: Mapping[str, tuple[str, ...]], name: str) -> str | None:
    return next((role for role, names in known.items() if name in names), None)
