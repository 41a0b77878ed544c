"""A browser for Olio: pages with their links and pictures, a cookie, forms with files."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import unescape
from http.client import HTTPConnection
from urllib.parse import parse_qsl, urlencode, urlsplit

from tests.web import PATIENCE_SECONDS
from tierlab.workloads.olio.shape import DYNAMIC_PREFIX

BOUNDARY = "a-line-that-is-in-no-file"
File = tuple[str, bytes]
"""Name and content."""


@dataclass(frozen=True)
class Reply:
    status: int
    kind: str
    """Its media type."""
    body: bytes
    location: str

    @property
    def source(self) -> str:
        return self.body.decode()

    @property
    def text(self) -> str:
        """What is to be read on the page."""
        return unescape(re.sub(r"<[^>]*>", "", self.source))

    @property
    def pictures(self) -> list[str]:
        """Their names in the file store."""
        addresses = (unescape(found) for found in re.findall(r'<img src="([^"]*)"', self.source))
        return [dict(parse_qsl(urlsplit(address).query))["file"] for address in addresses]

    def links_to(self, page: str) -> list[dict[str, str]]:
        """The parameters of each link to that page."""
        found = (
            urlsplit(unescape(link)) for link in re.findall(r'<a[^>]* href="([^"]*)"', self.source)
        )
        return [dict(parse_qsl(it.query)) for it in found if it.path == address(page)]

    def heads(self) -> list[str]:
        """Titles of the events that are listed with their pictures."""
        return [unescape(it) for it in re.findall(r"<h2><a[^>]*>([^<]*)</a></h2>", self.source)]


def address(page: str) -> str:
    return f"{DYNAMIC_PREFIX}{page}.php"


@dataclass
class Browser:
    port: int
    headers: dict[str, str] = field(default_factory=dict)
    cookie: str = ""

    def get(self, page: str, /, **parameters: object) -> Reply:
        query = f"?{urlencode(parameters)}" if parameters else ""
        return self.open("GET", address(page) + query)

    def post(self, page: str, /, **fields: object) -> Reply:
        kind = "application/x-www-form-urlencoded"
        return self.open("POST", address(page), urlencode(fields).encode(), kind)

    def upload(self, page: str, fields: Mapping[str, object], files: Mapping[str, File]) -> Reply:
        body = b"".join(
            _part(f'name="{name}"', str(value).encode()) for name, value in fields.items()
        )
        for name, (named, content) in files.items():
            body += _part(f'name="{name}"; filename="{named}"', content)
        kind = f"multipart/form-data; boundary={BOUNDARY}"
        return self.open("POST", address(page), body + f"--{BOUNDARY}--\r\n".encode(), kind)

    def login(self, number: int) -> Reply:
        return self.post("login", user_name=f"user{number}", password=number, submit="Login")

    def connection(self) -> HTTPConnection:
        return HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_SECONDS)

    def open(self, method: str, path: str, body: bytes | None = None, kind: str = "") -> Reply:
        connection = self.connection()
        try:
            sent = self.headers | ({"Cookie": self.cookie} if self.cookie else {})
            connection.request(method, path, body, sent | ({"Content-Type": kind} if kind else {}))
            reply = connection.getresponse()
            for cookie in reply.headers.get_all("Set-Cookie") or ():
                self.cookie = cookie.partition(";")[0]
            media = reply.headers.get_content_type()
            return Reply(reply.status, media, reply.read(), reply.headers.get("Location", ""))
        finally:
            connection.close()


def _part(disposition: str, content: bytes) -> bytes:
    head = f"--{BOUNDARY}\r\nContent-Disposition: form-data; {disposition}\r\n\r\n"
    return head.encode() + content + b"\r\n"


def mistakes(*pages: Reply) -> str:
    """What HTML Tidy finds wrong in pages."""
    command = ["tidy", "-quiet", "-errors", "-utf8"]
    done = (
        subprocess.run(command, input=page.body, capture_output=True, check=False) for page in pages
    )
    return "".join(each.stderr.decode() for each in done)
