"""PHP-FPM behind nginx in a network namespace, and clients that ask for pages."""

from __future__ import annotations

import http.client
import os
from collections.abc import Sequence
from pathlib import Path

from beds import wait_for
from traced_servers import TracedServers

PHP = {"name": "php.1", "address": "127.0.7.1", "port": 9000, "protocol": "fastcgi"}
WEB = ("127.0.1.1", 8080)
FPM = "php-fpm8.2"

FPM_CONF = """
[global]
error_log = {folder}/fpm.log
daemonize = no
[www]
listen = {address}:{port}
user = nobody
group = nogroup
pm = static
pm.max_children = 4
access.log = {folder}/access.log
access.format = "%m %r %s"
php_admin_flag[log_errors] = on
"""

NGINX_CONF = """
daemon off;
user nobody nogroup;
pid {folder}/nginx.pid;
error_log {folder}/nginx.log;
events {{ worker_connections 256; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    fastcgi_temp_path {folder}/fastcgi;
    proxy_temp_path {folder}/proxy;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    fastcgi_param SCRIPT_FILENAME {folder}/page.php;
    fastcgi_param REQUEST_METHOD $request_method;
    fastcgi_param REQUEST_URI $request_uri;
    fastcgi_param SCRIPT_NAME $uri;
    fastcgi_param QUERY_STRING $query_string;
    fastcgi_param CONTENT_TYPE $content_type;
    fastcgi_param CONTENT_LENGTH $content_length;
    upstream php {{ server {address}:{port}; keepalive 4; }}
    server {{
        listen {web}:{web_port};
        location /kept/ {{ fastcgi_pass php; fastcgi_keep_conn on; }}
        location / {{ fastcgi_pass php; }}
    }}
}}
"""

PAGE = r"""<?php
http_response_code((int) ($_GET['status'] ?? 200));
if (isset($_GET['warn'])) { error_log('a warning'); }
for ($n = 0; $n < (int) ($_GET['parts'] ?? 1); $n++) {
    echo str_repeat('x', (int) ($_GET['size'] ?? 10));
    flush();
}
echo array_sum(array_map('strlen', $_POST));
"""

PAGES: tuple[tuple[str, str, str | None], ...] = tuple(
    (method, folder + target, form)
    for folder in ("/kept", "")
    for method, target, form in (
        ("GET", "/item/17?itemId=17", None),
        ("GET", "/missing?status=404", None),
        ("GET", "/failed?status=500&warn=1", None),
        ("GET", "/moved?status=302", None),
        ("HEAD", "/item/18", None),
        ("GET", "/large?size=200000", None),
        ("GET", "/parts?size=9000&parts=20", None),
        ("GET", f"/long?filler={'q' * 6000}", None),
        ("POST", "/bid?itemId=3", "bid=7&comment=a+b"),
        ("POST", "/upload", f"body={'long+' * 30000}"),
    )
)


class FastcgiBed(TracedServers):
    """nginx and PHP-FPM, not started yet, in a folder that an unprivileged user reaches."""

    def __init__(self, folder: Path) -> None:
        super().__init__(f"tierlab-test-fastcgi-{os.getpid()}", (PHP,), folder)

    def start(self) -> None:
        names = {"folder": self.folder, "web": WEB[0], "web_port": WEB[1], **PHP}
        fpm, nginx = self.folder / "fpm.conf", self.folder / "nginx.conf"
        fpm.write_text(FPM_CONF.format(**names))
        nginx.write_text(NGINX_CONF.format(**names))
        (self.folder / "page.php").write_text(PAGE)
        self.spawn([FPM, "-y", str(fpm), "-F", "-n"], self.folder / "fpm.out")
        self.spawn(["nginx", "-p", str(self.folder), "-c", str(nginx)], self.folder / "nginx.out")
        for address, port in ((PHP["address"], PHP["port"]), WEB):
            wait_for(self, str(address), int(str(port)), self.folder / "fpm.out")

    def browse(self, requests: Sequence[tuple[str, str, str | None]]) -> None:
        """Send requests (method, target, form) through nginx on one connection."""
        connection = http.client.HTTPConnection(*WEB)
        connection.sock = self.native.connect(*WEB, timeout=30)
        for number, (method, target, form) in enumerate(requests):
            headers = {"X-Request-Id": f"{number:016x}"}
            if form is not None:
                headers["Content-Type"] = "application/x-www-form-urlencoded"
            connection.request(method, target, form, headers)
            connection.getresponse().read()
        connection.close()

    def ask_directly(self) -> None:
        """Ask without nginx, by the protocol's own reference library."""
        request = ["env", "-i", f"SCRIPT_FILENAME={self.folder}/page.php", "REQUEST_METHOD=GET"]
        request += ["SCRIPT_NAME=/direct", "QUERY_STRING=size=3000"]
        cgi_fcgi = "/usr/bin/cgi-fcgi"
        where = f"{PHP['address']}:{PHP['port']}"
        assert "x" * 3000 in self.run([*request, cgi_fcgi, "-bind", "-connect", where])

    def load(self, path: str, seconds: int) -> None:
        self.run(["wrk", "-t1", "-c4", f"-d{seconds}s", f"http://{WEB[0]}:{WEB[1]}{path}"])

    def logged(self) -> list[str]:
        """Method, script and status of what PHP-FPM served, by its own access log."""
        return (self.folder / "access.log").read_text().splitlines()
