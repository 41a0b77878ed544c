"""The application in its own Tomcat, and a browser for it, for tests."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from html.parser import HTMLParser
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import parse_qsl, urlencode, urlsplit

from tierlab.workloads.rubbos.shape import APPLICATION_JAR, DOCUMENT_ROOT

PROJECT = Path(__file__).parents[2]
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
            case "option":
                self.forms[-1].fields.setdefault(self._select, values["value"])
            case "select":
                self._select = values["name"]
            case "script":
                raise AssertionError("a page has a script element")

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag, f"</{tag}> closes nothing"

    def handle_data(self, data: str) -> None:
        self.text.append(data)

    def close(self) -> None:
        super().close()
        assert not self._open, f"never closed: {self._open}"


class Page:
    """A reply, read as a browser reads it."""

    def __init__(self, status: int, source: str) -> None:
        parser = _Parser()
        parser.feed(source)
        parser.close()
        self.status = status
        self.source = source
        self.links = parser.links
        self.images = parser.images
        self.forms = parser.forms
        self.text = "".join(parser.text)

    def links_to(self, page: str) -> list[dict[str, str]]:
        """The parameters of each link to that dynamic page."""
        parts = [urlsplit(link) for link in self.links]
        return [dict(parse_qsl(p.query)) for p in parts if p.path == f"/rubbos/servlet/{page}"]

    def form(self, page: str) -> Form:
        (form,) = [form for form in self.forms if form.action == f"/rubbos/servlet/{page}"]
        return form

    def says_sorry(self) -> bool:
        return "Sorry" in self.text


@dataclass(frozen=True)
class Running:
    process: subprocess.Popen[str]
    port: int
    folder: Path

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
        return self.open(f"/rubbos/servlet/{page}{query}", request_id)

    def post(self, page: str, /, request_id: str = "", **parameters: object) -> Page:
        status, reply = self.fetch(
            f"/rubbos/servlet/{page}",
            body=urlencode(parameters),
            headers={"X-Request-Id": request_id},
        )
        return Page(status, reply.decode())

    def open(self, path: str, request_id: str = "") -> Page:
        status, reply = self.fetch(path, headers={"X-Request-Id": request_id})
        return Page(status, reply.decode())


def java_command(folder: Path, settings: dict[str, object]) -> list[str]:
    folder.mkdir(parents=True, exist_ok=True)
    config = folder / "app.properties"
    config.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
    jar = str(APPLICATION_JAR)
    return ["java", "-Xmx128m", "-XX:+UseSerialGC", f"-Drubbos.config={config}", "-jar", jar]


@contextmanager
def running(folder: Path, port: int, settings: dict[str, object]) -> Iterator[Running]:
    """The application with its HTTP connector on `port`, ready; ended by SIGTERM."""
    own: dict[str, object] = {
        "http.port": port,
        "work.dir": folder / "work",
        "static.dir": DOCUMENT_ROOT / "rubbos",
        "jdbc.user": "rubbos",
        "jdbc.password": "secret",
    }
    command = java_command(folder, own | settings)
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
    try:
        assert process.stdout is not None
        first = process.stdout.readline()
        assert first, (folder / "log").read_text()
        assert json.loads(first) == {"ready": True}
        yield Running(process, port, folder)
    finally:
        process.terminate()
        process.wait(PATIENCE_SECONDS)
