"""A small real HTTP server that looks like Olio to its users, as a process of its own.

    python small_site.py

prints its port, and runs until its standard input ends.
"""

from __future__ import annotations

import asyncio
import sys

EVENTS = "".join(f'<a href="/olio/php/events.php?socialEventID={n}">e</a>' for n in range(1, 11))
PICTURES = "".join(f'<img src="/olio/php/fileService.php?file=e{n}t.jpg"/>' for n in range(1, 11))
PAGES = {
    "index": PICTURES + EVENTS,
    "taggedEvents": EVENTS,
    "login": f"Log out{EVENTS}",
    "events": '<a href="/olio/php/addAttendee.php?id=1">Attend</a>',
}


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """One connection's requests."""
    while head := await _head(reader):
        lines = head.decode("latin-1").split("\r\n")
        target = lines[0].split(" ")[1]
        fields = dict(line.lower().split(": ", 1) for line in lines[1:] if ": " in line)
        await reader.readexactly(int(fields.get("content-length", 0)))
        page = target.partition("?")[0].rpartition("/")[2].removesuffix(".php")
        content = PAGES.get(page, "page")
        writer.write(f"HTTP/1.1 200 OK\r\nContent-Length: {len(content)}\r\n\r\n{content}".encode())
        await writer.drain()
        if fields.get("connection") == "close":
            break
    writer.close()


async def _head(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        return b""


async def serve() -> None:
    server = await asyncio.start_server(answer, "127.0.0.1", 0, backlog=4096)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(serve())
