"""How much slower emulated servers are while their caches are simulated.

Apache httpd and MariaDB are emulated by `qemu-x86_64`, in pairs without and with the plugin, one
after the other. What is compared is CPU time, of which others on the machine take less than of the
time that passes: for a request, and for a script of statements with the server's start and end.
Emulated machines have more to do at every access (their page tables), so a plugin costs them less.
"""

from __future__ import annotations

import argparse
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from tierlab.errors import UserError
from tierlab.machine import caches

EMULATOR = "qemu-x86_64"
ADDRESS = "127.0.0.1:18391"
MOST = {"httpd": 5.0, "MariaDB": 8.0}
"""Times plain emulation's CPU time."""
SECONDS = 3

HTTPD = f"""
ServerRoot {{folder}}
Listen {ADDRESS}
ServerName bench
PidFile {{folder}}/pid
ErrorLog {{folder}}/error.log
User nobody
Group nogroup
LoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
DocumentRoot {{folder}}
ServerLimit 1
StartServers 1
ThreadsPerChild 16
MaxRequestWorkers 16
MaxKeepAliveRequests 0
"""
MARIADB = (
    *("/usr/sbin/mariadbd", "--no-defaults", "--user=root", "--bootstrap", "--skip-networking"),
    # It would reserve terabytes of addresses, for each page of which the emulator keeps a word.
    *("--innodb-buffer-pool-size=32M", "--innodb-buffer-pool-size-max=32M"),
    *("--innodb-use-native-aio=0", "--innodb-log-file-size=8M"),
)
ITEMS, JOINS, SCANS = 6000, 120, 120


def statements() -> str:
    """A table, joins of it with itself, and searches through it."""
    return "\n".join(
        [
            "CREATE DATABASE bench;",
            "USE bench;",
            "CREATE TABLE item (id INT PRIMARY KEY, owner INT, title VARCHAR(60), price INT,"
            " KEY (owner)) ENGINE=InnoDB;",
            "INSERT INTO item SELECT seq, seq * 7919 % 997, CONCAT('item ', MD5(seq)), seq % 991"
            f" FROM seq_1_to_{ITEMS};",
            *(
                "SELECT COUNT(*), SUM(a.price) FROM item a JOIN item b ON a.owner = b.owner"
                f" WHERE a.id % 40 = {number % 40};"
                for number in range(JOINS)
            ),
            *(
                f"SELECT owner, COUNT(*) FROM item WHERE title LIKE '%{number % 10}f%'"
                " GROUP BY owner ORDER BY 2 DESC LIMIT 5;"
                for number in range(SCANS)
            ),
            "",
        ]
    )


def httpd(emulated: list[str], folder: Path) -> float:
    """CPU time for a request, in ms."""
    (folder / "page.html").write_text("a page of a few thousand bytes\n" * 100)
    (folder / "httpd.conf").write_text(HTTPD.format(folder=folder))
    folder.chmod(0o755)
    command = [*emulated, "/usr/sbin/apache2", "-X", "-f", str(folder / "httpd.conf")]
    with running(command, folder) as server:
        requests(1)  # its code is translated
        before = cpu_s(server)
        served = requests(SECONDS)
        return 1e3 * (cpu_s(server) - before) / served


def requests(seconds: int) -> int:
    """Have pages asked for; how many were answered."""
    asked = ["wrk", "-t1", "-c8", f"-d{seconds}s", f"http://{ADDRESS}/page.html"]
    said = subprocess.run(asked, check=True, capture_output=True, text=True).stdout
    counted = re.search(r"(\d+) requests in", said)
    if counted is None or "Non-2xx" in said or "Socket errors" in said:
        sys.exit(f"httpd was not served well: {said}")
    return int(counted[1])


def mariadb(emulated: list[str], folder: Path) -> float:
    """CPU time of the script, in s."""
    data = folder / "data"
    data.mkdir()
    command = [*emulated, *MARIADB, f"--datadir={data}", f"--tmpdir={folder}"]
    with (folder / "log").open("w") as log:
        server = psutil.Popen(command, stdin=subprocess.PIPE, stdout=log, stderr=log)
        server.stdin.write(statements().encode())
        server.stdin.close()
        spent = cpu_s(server)
        while server.poll() is None:
            with_more = cpu_s(server)
            spent = max(spent, with_more)
            time.sleep(0.01)
    if server.returncode != 0 or "ERROR" in (folder / "log").read_text():
        sys.exit(f"MariaDB fails: {(folder / 'log').read_text()[-500:]}")
    return spent


def cpu_s(process: psutil.Process) -> float:
    """What a process has used so far; 0 once it has ended."""
    try:
        times = process.cpu_times()
    except psutil.NoSuchProcess:
        return 0.0
    return times.user + times.system


@contextmanager
def running(command: list[str], folder: Path) -> Iterator[psutil.Process]:
    with (folder / "log").open("w") as log:
        process = psutil.Popen(command, stdout=log, stderr=log)
    try:
        wait_for_port(folder)
        yield process
    finally:
        process.terminate()
        try:
            process.wait(20)
        except psutil.TimeoutExpired:
            process.kill()
            process.wait()


def wait_for_port(folder: Path) -> None:
    deadline = time.monotonic() + 30
    while not (folder / "pid").exists():
        if time.monotonic() > deadline:
            sys.exit(f"httpd does not start: {(folder / 'log').read_text()}")
        time.sleep(0.05)
    time.sleep(0.5)


def measure(kind: Callable[[list[str], Path], float], simulated: bool) -> float:
    with tempfile.TemporaryDirectory(prefix="tierlab-bench-") as name:
        folder = Path(name)
        if not simulated:
            return kind([EMULATOR], folder)
        here = caches.read()
        out = folder / "counts"
        plugin = caches.plugin(here, [0], out, one_in=here.one_in)
        spent = kind([EMULATOR, "-plugin", plugin], folder)
        if "tick" not in out.read_text():
            sys.exit("nothing was counted")
        return spent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=5)
    pairs = parser.parse_args().pairs
    try:
        print(f"one set in {caches.read().one_in} is looked up of {caches.read().levels}")
    except UserError as error:
        sys.exit(str(error))
    missed = []
    for name, kind, unit in (
        ("httpd", httpd, "ms of CPU a request"),
        ("MariaDB", mariadb, "s of CPU"),
    ):
        found = [(measure(kind, False), measure(kind, True)) for _ in range(pairs)]
        ratios = sorted(simulated / plain for plain, simulated in found)
        plain, simulated = (statistics.median(each) for each in zip(*found, strict=True))
        ratio = statistics.median(ratios)
        print(f"{name}: {plain:.3f} {unit} emulated, {simulated:.3f} with simulated caches")
        print(f"  ratio {ratio:.2f} (runs: {', '.join(f'{each:.2f}' for each in ratios)})")
        if ratio > MOST[name]:
            missed.append(f"{name} more than {MOST[name]:g} times")
    if missed:
        sys.exit(f"slower than it may be: {', '.join(missed)}")


if __name__ == "__main__":
    main()
