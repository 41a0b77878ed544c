"""A shop of which nothing can be replayed as it was recorded: ids, tokens and sessions are drawn
anew at each start. Without any library, so that whoever has Python can start it.

    python3 shop.py PORT ADDRESS
"""

from __future__ import annotations

import html
import json
import re
import secrets
import sys
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PASSWORD = "correct horse battery staple"
ITEMS = {str(secrets.randbelow(10**9) + 10**9): f"Thing {n}" for n in range(12)}
SESSIONS: dict[str, dict[str, str]] = {}
STYLE = "body { font: 16px sans-serif }"


def page(title: str, body: str) -> str:
    head = f'<title>{title}</title><link rel="stylesheet" href="/style.css">'
    return f"<!doctype html><html><head>{head}</head><body><h1>{title}</h1>{body}</body></html>"


def link(item: str) -> str:
    return f'<a class="item" href="/items/{item}">{ITEMS[item]}</a> '


def hidden(name: str, value: str) -> str:
    return f'<input type="hidden" value="{html.escape(value)}" name="{name}">'


class Shop(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def answer(self, text: str, status: int = 200, kind: str = "text/html", **headers: str) -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def session(self) -> tuple[dict[str, str], dict[str, str]]:
        found = re.search(r"\bsid=(\w+)", self.headers.get("Cookie") or "")
        if found is not None and found[1] in SESSIONS:
            return SESSIONS[found[1]], {}
        sid = secrets.token_hex(16)
        SESSIONS[sid] = {"token": secrets.token_urlsafe(24), "basket": "", "user": ""}
        return SESSIONS[sid], {"Set_Cookie": f"sid={sid}; Path=/; HttpOnly"}

    def do_GET(self) -> None:
        session, cookie = self.session()
        path, _, query = self.path.partition("?")
        wanted = dict(urllib.parse.parse_qsl(query))
        if path == "/style.css":
            self.answer(STYLE, kind="text/css")
        elif path == "/":
            form = f'{hidden("csrf", session["token"])}<input name="user"><input name="password">'
            login = (
                f'<form method="post" action="/login">{form}<button id="login">in</button></form>'
            )
            search = '<form action="/search"><input name="q"><button id="find">find</button></form>'
            self.answer(page("Shop", login + search + "".join(map(link, ITEMS))), **cookie)
        elif path == "/search":
            found = [item for item, name in ITEMS.items() if wanted.get("q", "") in name]
            self.answer(page("Found", "".join(map(link, found))), **cookie)
        elif path.startswith("/items/") and (item := path.rpartition("/")[2]) in ITEMS:
            token = f'<meta name="csrf-token" content="{session["token"]}">'
            button = f'<button id="put" onclick="put(\'{item}\')">put</button>'
            button += '<a href="/basket">basket</a>'
            script = (
                "<script>function put(item) { fetch('/api/basket', {method: 'POST', headers: "
                "{'Content-Type': 'application/json', 'X-CSRF-Token': document.querySelector("
                "'meta[name=csrf-token]').content}, body: JSON.stringify({item: item, count: 1})})"
                ".then(r => r.json()).then(r => document.title = 'put ' + r.things) }</script>"
            )
            self.answer(page(ITEMS[item], token + button + script), **cookie)
        elif path == "/basket":
            things = session["basket"].split()
            buy = f'<form method="post" action="/orders">{hidden("csrf", session["token"])}'
            self.answer(
                page("Basket", f"{len(things)} things {buy}<button id='buy'>buy</button></form>"),
                **cookie,
            )
        elif path.startswith("/orders/") and path.rpartition("/")[2] == session.get("order"):
            self.answer(page("Order", f"Thank you, {session['user']}"), **cookie)
        else:
            self.answer(page("Nothing", "is here"), 404)

    def do_POST(self) -> None:
        session, cookie = self.session()
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        if self.path == "/api/basket":
            told = json.loads(body)
            if self.headers.get("X-CSRF-Token") != session["token"] or told["item"] not in ITEMS:
                self.answer('{"error": "forged"}', 403, "application/json")
                return
            session["basket"] += f" {told['item']}"
            things = len(session["basket"].split())
            self.answer(json.dumps({"things": things}), kind="application/json")
            return
        form = dict(urllib.parse.parse_qsl(body))
        if form.get("csrf") != session["token"]:
            self.answer(page("Forged", ""), 403)
        elif self.path == "/login" and form.get("password") == PASSWORD:
            session["user"] = form["user"]
            self.answer("", 303, Location="/", **cookie)
        elif self.path == "/orders" and session["user"] and session["basket"]:
            session["order"], session["basket"] = str(secrets.randbelow(10**9) + 10**9), ""
            self.answer("", 303, Location=f"/orders/{session['order']}")
        else:
            self.answer(page("Refused", ""), 403)


class Server(ThreadingHTTPServer):
    request_queue_size = 128
    daemon_threads = True


if __name__ == "__main__":
    Server((sys.argv[2], int(sys.argv[1])), Shop).serve_forever()
