"""A browser for the applications under test: pages, their links and forms."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from http.client import HTTPConnection
from urllib.parse import parse_qsl, urlencode, urlsplit

PATIENCE_SECONDS = 30.0
_VOID = {"img", "input", "meta", "br", "link", "hr"}


@dataclass(frozen=True)
class Form:
    action: str
    method: str
    fields: dict[str, str] = field(default_factory=dict)

    @property
    def is_filled_in(self) -> bool:
        """Whether it may be sent as it is."""
        return self.method == "get" and all(self.fields.values())

    @property
    def address(self) -> str:
        """Where it leads as it is."""
        return f"{self.action}?{urlencode(self.fields)}"


class _Parser(HTMLParser):
    """Collects what a page offers; fails on tags that do not nest."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.images: list[str] = []
        self.forms: list[Form] = []
        self.text: list[str] = []
        self._open: list[str] = []
        self._select = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if tag not in _VOID:
            self._open.append(tag)
        match tag:
            case "a":
                self.links.append(values["href"])
            case "img":
                self.images.append(values["src"])
            case "form":
                self.forms.append(Form(values["action"], values["method"]))
            case "input" | "textarea":
                self.forms[-1].fields[values["name"]] = values.get("value", "")
            case "option" if self._select:
                self.forms[-1].fields.setdefault(self._select, values["value"])
            case "select":
                self._select = values["name"]
            case "script":
                raise AssertionError("a page has a script element")

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag, f"</{tag}> closes nothing"
        if tag == "select":
            self._select = ""

    def handle_data(self, data: str) -> None:
        self.text.append(data)

    def close(self) -> None:
        super().close()
        assert not self._open, f"never closed: {self._open}"


class Page:
    """A reply, read as a browser reads it."""

    def __init__(self, status: int, source: str, address: str) -> None:
        parser = _Parser()
        parser.feed(source)
        parser.close()
        self.status = status
        self.source = source
        self._address = address
        self.links = parser.links
        self.images = parser.images
        self.forms = parser.forms
        self.text = "".join(parser.text)

    def links_to(self, page: str) -> list[dict[str, str]]:
        """The parameters of each link to that dynamic page."""
        parts = [urlsplit(link) for link in self.links]
        return [dict(parse_qsl(p.query)) for p in parts if p.path == self._address.format(page)]

    def form(self, page: str) -> Form:
        (form,) = [form for form in self.forms if form.action == self._address.format(page)]
        return form

    def says_sorry(self) -> bool:
        return "Sorry" in self.text


@dataclass(frozen=True)
class Site:
    """A web application on this host, as a browser has it."""

    port: int
    address: str
    """Of a dynamic page, its name in the place of the braces."""

    def fetch(
        self, path: str, *, body: str | None = None, headers: dict[str, str] | None = None
    ) -> tuple[int, bytes]:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_SECONDS)
        try:
            sent = dict(headers or {})
            if body is not None:
                sent["Content-Type"] = "application/x-www-form-urlencoded"
            connection.request("GET" if body is None else "POST", path, body, sent)
            reply = connection.getresponse()
            return reply.status, reply.read()
        finally:
            connection.close()

    def get(self, page: str, /, request_id: str = "", **parameters: object) -> Page:
        query = f"?{urlencode(parameters)}" if parameters else ""
        return self.open(self.address.format(page) + query, request_id)

    def post(self, page: str, /, request_id: str = "", **parameters: object) -> Page:
        status, reply = self.fetch(
            self.address.format(page),
            body=urlencode(parameters),
            headers={"X-Request-Id": request_id},
        )
        return Page(status, reply.decode(), self.address)

    def open(self, path: str, request_id: str = "") -> Page:
        status, reply = self.fetch(path, headers={"X-Request-Id": request_id})
        return Page(status, reply.decode(), self.address)
