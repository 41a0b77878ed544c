"""Readiness by protocol: one exchange over an open connection, in each protocol of the tiers."""

from __future__ import annotations

import http.client
import socket
from collections.abc import Callable, Mapping

import pg8000.native
import pymysql
from pg8000.exceptions import Error
from pymysql.connections import Connection
from pymysql.cursors import Cursor

from tierlab.servers.base import NotReadyError

HTTP2_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

AJP_CPING = bytes.fromhex("123400010a")
AJP_CPONG = bytes.fromhex("4142000109")
"""Apache JServ Protocol 1.3: magic, length 1, type 10 to the container and 9 from it."""

Connect = Callable[[], socket.socket]


def http_get(connect: Connect, host: str, path: str) -> None:
    """Fetch a page; ready is status 200."""
    if (status := _status(connect, host, path)) != 200:
        raise NotReadyError(f"GET {path} answers {status}")


def http_answers(connect: Connect, host: str, path: str) -> None:
    """Fetch a page of an application's own; ready is any status of success or another place."""
    if not 200 <= (status := _status(connect, host, path)) < 400:
        raise NotReadyError(f"GET {path} answers {status}")


def _status(connect: Connect, host: str, path: str) -> int:
    connection = http.client.HTTPConnection(host)
    connection.sock = connect()
    try:
        connection.request("GET", path, headers={"Connection": "close"})
        return connection.getresponse().status
    except http.client.HTTPException as error:
        raise NotReadyError(f"its answer is no HTTP: {error!r}") from error
    finally:
        connection.close()


def http2_get(connect: Connect, host: str, path: str) -> None:
    """Fetch a page by HTTP/2 without TLS (RFC 9113 section 3.3); ready is status 200."""
    request = b"".join(
        b"\x00" + bytes([len(name)]) + name + bytes([len(value)]) + value
        for name, value in (
            (b":method", b"GET"),
            (b":scheme", b"http"),
            (b":path", path.encode()),
            (b":authority", host.encode()),
        )
    )
    with connect() as link:
        link.sendall(HTTP2_PREFACE + _frame(4, 0, 0, b"") + _frame(1, 5, 1, request))
        with link.makefile("rb") as answer:
            while len(header := answer.read(9)) == 9:
                content = answer.read(int.from_bytes(header[:3], "big"))
                if header[3] == 1:
                    # A status of 200 is entry 8 of the static table (RFC 7541 appendix A).
                    if content[:1] != b"\x88":
                        raise NotReadyError(f"GET {path} by HTTP/2 does not answer 200")
                    return
    raise NotReadyError("it closed the connection on a request by HTTP/2")


def _frame(kind: int, flags: int, stream: int, content: bytes) -> bytes:
    length = len(content).to_bytes(3, "big")
    return length + bytes([kind, flags]) + stream.to_bytes(4, "big") + content


def ajp_ping(connect: Connect) -> None:
    """Exchange CPING and CPONG."""
    with connect() as link:
        link.sendall(AJP_CPING)
        answer = b""
        while len(answer) < len(AJP_CPONG):
            part = link.recv(len(AJP_CPONG) - len(answer))
            if not part:
                raise NotReadyError("it closed the connection on an AJP CPING")
            answer += part
    if answer != AJP_CPONG:
        raise NotReadyError(f"it answers an AJP CPING with {answer.hex()}")


def mysql_login(
    link: socket.socket, user: str, password: str, database: str | None = None
) -> Connection[Cursor]:
    """Log in over an open connection; `NotReadyError` if that fails.

    An answer may take as long as the connection allows.
    """
    # Loading the certificates that nobody is asked for would take longer than the login.
    connection = pymysql.connect(
        user=user,
        password=password,
        database=database,
        autocommit=True,
        ssl_disabled=True,
        # It would take the time-out off the connection.
        read_timeout=link.gettimeout(),
        write_timeout=link.gettimeout(),
        defer_connect=True,
    )
    try:
        connection.connect(link)
    except pymysql.MySQLError as error:
        link.close()
        raise NotReadyError(f"login as {user} fails: {error.args[-1]}") from error
    return connection


def mysql_select(connect: Connect, user: str, password: str, database: str) -> None:
    """Log in and run a statement."""
    with mysql_login(connect(), user, password, database) as connection:
        try:
            with connection.cursor() as cursor:
                cursor.execute("SELECT 1")
        except pymysql.MySQLError as error:
            raise NotReadyError(f"SELECT 1 fails: {error.args[-1]}") from error


def postgresql_login(
    link: socket.socket, user: str, password: str, database: str
) -> pg8000.native.Connection:
    """Log in over an open connection; `NotReadyError` if that fails."""
    try:
        return pg8000.native.Connection(user, sock=link, password=password, database=database)
    except (Error, OSError) as error:
        link.close()
        raise NotReadyError(f"login as {user} fails: {error}") from error


def postgresql_select(connect: Connect, user: str, password: str, database: str) -> None:
    """Log in and run a statement."""
    connection = postgresql_login(connect(), user, password, database)
    try:
        connection.run("SELECT 1")
    except Error as error:
        raise NotReadyError(f"SELECT 1 fails: {error}") from error
    finally:
        connection.close()


DATABASE: Mapping[str, Callable[[Connect, str, str, str], None]] = {
    "mysql": mysql_select,
    "postgresql": postgresql_select,
}
"""A statement by the databases' protocols: user, password, database."""
