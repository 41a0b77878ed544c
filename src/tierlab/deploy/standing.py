"""A server that runs already: looked for at its address, and let alone."""

from __future__ import annotations

from pathlib import Path

from tierlab.environments.native.standing_domain import StandingDomain
from tierlab.errors import UserError
from tierlab.servers.base import NotReadyError, Server


class Standing:
    """What stands in an instance's place where somebody else started the server."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self._was_seen = False

    @property
    def subject(self) -> str:
        """The server's name."""
        return self.server.site.subject

    def start(self) -> None:
        """Ask it once; `UserError` where nobody answers."""
        site = self.server.site
        try:
            self.server.greet()
        except (OSError, NotReadyError) as error:
            raise UserError(
                f"{self.subject}: nothing that works answers at {site.endpoint} ({error}); start it"
                " there, or say where it runs."
            ) from error
        site.domain.start()
        self._was_seen = self._is_listening()

    def check(self) -> None:
        """Raise `UserError` if it has ended, where its processes were seen."""
        if self._was_seen and not self._is_listening():
            raise UserError(f"{self.subject}: nobody listens at {self.server.site.endpoint} now.")

    def stop(self) -> None:
        """It is not ours."""

    def save_logs(self, target: Path) -> None:
        """Neither are its logs."""

    def _is_listening(self) -> bool:
        domain = self.server.site.domain
        return isinstance(domain, StandingDomain) and domain.is_listening()
