"""A server of the user's own that comes as a container image."""

from __future__ import annotations

import signal
import time
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from tierlab.environments.image_root import ImageRoot
from tierlab.errors import UserError
from tierlab.servers.base import ANSWER_SECONDS, NotReadyError, Options, Server
from tierlab.servers.failure import last_lines
from tierlab.servers.greetings import http2_get, http_answers
from tierlab.servers.image_first import FirstProgram
from tierlab.servers.image_options import (
    Health,
    ImageOptions,
    first_options,
    health_of,
    signal_of,
    words_of,
)
from tierlab.servers.placeholders import filled, from_environment
from tierlab.servers.soft import SoftResource


class Image(Server):
    """One program of an image's, in the image's root."""

    kind = "image"
    programs: ClassVar[Mapping[str, str]] = {}
    soft_resources: ClassVar[Mapping[str, SoftResource]] = {}
    own_options = ImageOptions
    worker_threads: ClassVar[bool | None] = None
    stop_seconds = 10.0
    brings_root = True

    options: ImageOptions
    _asked = 0.0
    """When the health check was tried last."""

    @classmethod
    def spoken(cls, options: Options) -> Mapping[str, int]:
        """What the file or the image says."""
        assert isinstance(options, ImageOptions)
        return {options.speaks(): options.port or 0}

    @classmethod
    def socket_in(cls, options: Options, folder: Path) -> str | None:  # noqa: ARG003
        """Where the file says, in the image's root."""
        assert isinstance(options, ImageOptions)
        return options.socket

    @classmethod
    def caller_protocol(cls, options: Options, spoken: Mapping[str, int]) -> str | None:  # noqa: ARG003
        """It calls whom it calls."""
        return next(iter(spoken))

    @classmethod
    def root(cls, options: Options) -> ImageRoot | None:
        """The image, as the file has it run."""
        assert isinstance(options, ImageOptions)
        found = options.found
        return ImageRoot(
            image=found.id,
            archive=found.archive,
            user=options.run_as,
            folder=options.workdir,
            volumes=options.laid_over,
        )

    def first_programs(self) -> tuple[FirstProgram, ...]:
        """As the file says."""
        found = []
        for number, table in enumerate(self.options.first or (), 1):
            options = first_options(table)
            root = self.root(options)
            assert root is not None
            key = f"{self._key}.first[{number}].environment"
            found.append(
                FirstProgram(
                    name=str(table.get("name") or f"first{number}"),
                    root=root,
                    words=tuple(map(self._filled, words_of(options, options.found))),
                    variables=self._variables(options, key),
                    within=options.within_ns / 1e9,
                )
            )
        return tuple(found)

    @property
    def _key(self) -> str:
        return f"system.{self.site.subject.rpartition('.')[0]}"

    @property
    def start_within(self) -> float:
        """As the file says."""
        return self.options.within_ns / 1e9

    @property
    def stops_by(self) -> int:
        """As the file says, or the image."""
        said = self.options.stop_signal or self.options.found.config.get("StopSignal")
        return signal_of(str(said or "")) or signal.SIGTERM

    def _filled(self, text: str) -> str:
        endpoint = self.site.endpoint
        own = {"address": endpoint.address, "port": str(endpoint.port)}
        own |= {} if endpoint.socket is None else {"socket": endpoint.socket}
        return filled(text, own, self.site.tiers, self.content.login)

    def render(self) -> dict[str, str]:
        """It has its own configuration."""
        return {}

    def prepare(self) -> None:
        """All is in the image."""

    def command(self) -> list[str]:
        """The image's, or the file's."""
        return [self._filled(each) for each in words_of(self.options, self.options.found)]

    def variables(self) -> dict[str, str]:
        """Those of the file; the domain has the image's."""
        return self._variables(self.options, f"{self._key}.environment")

    def _variables(self, options: ImageOptions, key: str) -> dict[str, str]:
        return {
            name: self._filled(from_environment(name, value, key))
            for name, value in options.environment.items()
        }

    def greet(self) -> None:
        """A page if the file names one; else a connection, and then the health check."""
        if self.options.ready is not None:
            get = http2_get if self.site.endpoint.protocol == "http2" else http_answers
            get(self.site.connect, self.options.called(self.site.endpoint), self.options.ready)
            self.site.check_socket()
            return
        self.site.connect().close()
        self.site.check_socket()
        if (health := health_of(self.options, self.options.found)) is not None:
            self._check_health(health)

    def _check_health(self, health: Health) -> None:
        if time.monotonic() < self._asked + health.every:
            raise NotReadyError("its health check failed")
        words = [self._filled(each) for each in health.words]
        try:
            done = self.site.domain.run(words, timeout=self.site.patience(ANSWER_SECONDS))
        except UserError as error:
            raise NotReadyError(str(error).rstrip(".")) from error
        finally:
            self._asked = time.monotonic()
        if done.status != 0:
            said = last_lines(done.stderr or done.stdout)
            raise NotReadyError(f"its health check failed: {said[-1] if said else done.status}")
