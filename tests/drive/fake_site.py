"""A small real HTTP server that looks like RUBBoS to its users: every page has the links, fields
and options that the next request needs. It runs as a process of its own.

    python fake_site.py [--log FILE] [--images] [--delay-ms N]

prints its port. The log has one line a request: method, target, body, connection number, request
id.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from urllib.parse import parse_qs, urlsplit

STORY = '<a href="/rubbos/servlet/ViewStory?storyId={0}">s</a>'
IDS = "comment_table=comments&amp;storyId={0}"
COMMENT = (
    f'<a href="/rubbos/servlet/ViewComment?{IDS}&amp;commentId={{1}}&amp;filter=0&amp;display=0">'
    f'c</a><a href="/rubbos/servlet/PostComment?{IDS}&amp;parent={{1}}">r</a>'
    '<a href="/rubbos/servlet/ModerateComment?comment_table=comments&amp;commentId={1}">m</a>'
)
CATEGORY = '<a href="/rubbos/servlet/BrowseStoriesByCategory?category={0}&amp;categoryName=c+{0}">'
HIDDEN = "<input type=hidden name={0} value={1}>"

STORIES = "".join(STORY.format(n) for n in range(1, 11))
COMMENTS = "".join(COMMENT.format(7, n) for n in range(1, 4))
PAGES = {
    "StoriesOfTheDay": STORIES,
    "BrowseCategories": "".join(CATEGORY.format(n) for n in range(5)),
    "BrowseStoriesByCategory": STORIES,
    "OlderStories": STORIES,
    "ViewStory": COMMENTS,
    "ViewComment": COMMENTS + STORY.format(7),
    "PostComment": "".join(
        HIDDEN.format(*field)
        for field in (("comment_table", "comments"), ("storyId", 7), ("parent", 0))
    ),
    "ModerateComment": HIDDEN.format("comment_table", "comments") + HIDDEN.format("commentId", 3),
    "SubmitStory": '<select name="category"><option value="3">x<option value="4">y</select>',
    "ReviewStories": "".join(
        f'<a href="/rubbos/servlet/{verb}Story?storyId={n}">a</a>'
        for verb in ("Accept", "Reject")
        for n in (1, 2)
    ),
}
SEARCHES = {"0": STORIES, "1": COMMENTS, "2": STORIES}


def body(target: str) -> str:
    url = urlsplit(target)
    page = url.path.rsplit("/", 1)[-1]
    if page == "Search":
        kinds = parse_qs(url.query).get("type")
        return SEARCHES[kinds[0]] if kinds else "form"
    return PAGES.get(page, "page")


class Connection(asyncio.Protocol):
    """One connection: requests are read by their heads and Content-Length."""

    opened = 0

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.received = b""
        Connection.opened += 1
        self.number = Connection.opened

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.received += data
        while (end := self.received.find(b"\r\n\r\n")) >= 0:
            head = self.received[:end].decode()
            fields = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:])
            length = int(fields.get("content-length", 0))
            if len(self.received) < end + 4 + length:
                return
            sent = self.received[end + 4 : end + 4 + length].decode()
            self.received = self.received[end + 4 + length :]
            delay = self.options.delay_ms / 1000
            if delay:
                asyncio.get_running_loop().call_later(delay, self.answer, head, sent)
            else:
                self.answer(head, sent)

    def answer(self, head: str, sent: str) -> None:
        method, target, _ = head.split("\r\n", 1)[0].split(" ")
        closes = "\r\nConnection: close" in head
        if self.options.log:
            name = head.partition("\r\nX-Request-Id: ")[2].partition("\r\n")[0]
            print(method, target, sent, self.number, name, sep="\t", file=self.options.log)
        content = body(target)
        if self.options.images and not target.endswith(".png"):
            content += '<IMG SRC="/rubbos/images/logo.png"><img src="/rubbos/images/b.png">'
        connection = "Connection: close\r\n" if closes else ""
        reply = f"HTTP/1.1 200 OK\r\n{connection}Content-Length: {len(content)}\r\n\r\n{content}"
        self.transport.write(reply.encode())
        if closes:
            self.transport.close()


async def serve(options: argparse.Namespace) -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Connection(options), "127.0.0.1", 0, backlog=4096)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--log", type=argparse.FileType("w", bufsize=1, encoding="utf-8"))
    parser.add_argument("--images", action="store_true")
    parser.add_argument("--delay-ms", type=float, default=0)
    asyncio.run(serve(parser.parse_args()))
