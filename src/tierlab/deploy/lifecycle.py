"""Bringing a server up and down: the same steps for every kind."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

import pymysql

from tierlab.environments.process import Process
from tierlab.errors import UserError
from tierlab.servers.base import CONSOLE, NotReadyError, Server
from tierlab.servers.failure import why
from tierlab.servers.page_cache import files_below, forget
from tierlab.servers.programs import find_program

POLL_SECONDS = 0.02


class Instance:
    """A server and, once started, its process."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.process: Process | None = None

    @property
    def subject(self) -> str:
        """The instance's name."""
        return self.server.site.subject

    def start(self) -> None:
        """Start it in its domain and wait until it answers by its protocol."""
        server = self.server
        domain = server.site.domain
        self._check_port()
        domain.start()
        try:
            for name, text in server.render().items():
                domain.write(name, text)
            server.prepare()
            argv = self._command()
        except OSError as error:
            raise UserError(
                f"{self.subject}: cannot write below {domain.folder} ({error.strerror});"
                " make room there."
            ) from error
        self.process = domain.spawn(argv, log=CONSOLE, env=server.variables())
        self._wait_ready(self.process)

    def _command(self) -> list[str]:
        """The command with its program's path.

        Where memory of this host's kernel is limited, none of its pages is in the cache yet.
        """
        server, domain = self.server, self.server.site.domain
        if server.brings_root:
            return server.command()
        name, *arguments = server.command()
        # One that is in its folder has been laid down there.
        is_own = Path(name).is_relative_to(domain.folder)
        program = name if is_own else find_program(name)
        if domain.spec.placement.memory is not None and domain.inside() is None:
            file = Path(program).resolve()
            own = server.own_program(file)
            forget([*server.program_files(own), *files_below(domain.folder)])
            if own != file:
                program = str(own)
            # Else by the name found: Debian's redis-server is a link, and Redis goes by its name.
        return [program, *arguments]

    def check(self) -> None:
        """Raise `UserError` if the server has ended by itself."""
        if self.process is not None and (status := self.process.poll()) is not None:
            raise UserError(f"{self.subject} ({self.server.kind}) {_ended(status)}{self._why()}")

    def stop(self) -> None:
        """Stop it gracefully, by force after its time; a no-op if it was not started."""
        if self.process is not None:
            self._keep_last_words()
            self._end(self.process)
            self.process = None

    def _end(self, process: Process) -> None:
        server = self.server
        deadline = time.monotonic() + server.site.patience(server.stop_seconds)
        first = server.stops_by
        if server.last_signal is not None:
            process.signal(first)
            while self._has_workers(process) and time.monotonic() < deadline:
                time.sleep(POLL_SECONDS)
            first = server.last_signal
        process.stop(max(0.0, deadline - time.monotonic()), first)

    def _has_workers(self, process: Process) -> bool:
        """Whether others than the main process live in its domain."""
        return process.poll() is None and len(self.server.site.domain.pids()) > 1

    def _keep_last_words(self) -> None:
        """A server that cannot answer any more has none; that is no reason not to stop it."""
        domain = self.server.site.domain
        with contextlib.suppress(OSError, NotReadyError, pymysql.MySQLError):
            for name, text in self.server.last_words().items():
                domain.write(name, text)

    def save_logs(self, target: Path) -> None:
        """Copy its logs and rendered configuration to a folder of its own below `target`."""
        domain = self.server.site.domain
        if not domain.has("."):
            return
        folder = target / self.subject
        folder.mkdir(parents=True, exist_ok=True)
        for name in (*self.server.render(), "logs"):
            if domain.has(name):
                domain.get(name, folder)

    def _check_port(self) -> None:
        endpoint = self.server.site.endpoint
        self._check_socket()
        if not endpoint.port:
            return
        try:
            holder = self.server.site.environment.listener(endpoint.address, endpoint.port)
        except UserError as error:
            raise UserError(f"{self.subject}: {error}") from error
        if holder is not None:
            raise UserError(
                f"{self.subject}: {endpoint} is taken by {holder}; stop that program and try again."
            )

    def _check_socket(self) -> None:
        """Refuse a path at which somebody accepts connections, or whose folder is not there."""
        site = self.server.site
        path = site.endpoint.socket
        if path is None or self.server.brings_root or Path(path).is_relative_to(site.folder):
            return
        if not path.startswith("@") and not Path(path).parent.is_dir():
            raise UserError(
                f"{self.subject}: {path} is to be its socket, and there is no folder"
                f" {Path(path).parent}; make it, or say a path in the server's own folder, such as"
                f" {Path(path).name}."
            )
        try:
            site.connect_to_socket().close()
        except OSError:
            return
        raise UserError(
            f"{self.subject}: another program accepts connections at {path}; stop that program and"
            " try again."
        )

    def _wait_ready(self, process: Process) -> None:
        patience = self.server.site.patience(self.server.start_within)
        deadline = time.monotonic() + patience
        while True:
            if (status := process.poll()) is not None:
                raise UserError(
                    f"{self.subject}: {self.server.kind} did not start: it"
                    f" {_ended(status)}{self._why()}"
                )
            try:
                self.server.greet()
            except (OSError, NotReadyError) as error:
                shortcoming = str(error)
            else:
                return
            if time.monotonic() > deadline:
                raise UserError(
                    f"{self.subject}: {self.server.kind} was not ready within"
                    f" {patience:g} seconds ({shortcoming}){self._why()}"
                )
            time.sleep(POLL_SECONDS)

    def _why(self) -> str:
        domain = self.server.site.domain
        return why(domain.folder, [domain.text(name) or "" for name in self.server.own_logs])


def _ended(status: int) -> str:
    return f"was killed by signal {-status}" if status < 0 else f"ended with status {status}"
