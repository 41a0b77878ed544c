"""An event loop that computes for 4 ms for each request and answers it 40 ms later.

python event_loop.py ADDRESS PORT
"""

from __future__ import annotations

import asyncio
import sys
import time

PAGE = b"<a href='/again'>again</a>"
REPLY = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%s"


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer what comes on a connection."""
    try:
        while await reader.readuntil(b"\r\n\r\n"):
            end = time.thread_time() + 0.004
            while time.thread_time() < end:
                pass
            await asyncio.sleep(0.04)
            writer.write(REPLY % (len(PAGE), PAGE))
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def main() -> None:
    """Listen for ever."""
    server = await asyncio.start_server(serve, sys.argv[1], int(sys.argv[2]))
    await server.serve_forever()


asyncio.run(main())
