"""A server of the user's own that runs already: Tierlab neither starts nor stops it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, ClassVar, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from tierlab.servers.base import Options, Server
from tierlab.servers.greetings import http_answers
from tierlab.servers.own_options import ADDRESS, PORT, OwnOptions
from tierlab.values.problem import problem, raise_all


class AddressOptions(OwnOptions):
    """Where a server of the user's own runs already."""

    port: Annotated[int | None, PORT] = Field(default=None, examples=[8080])
    """The TCP port that it listens on; not needed beside `socket`."""

    address: Annotated[str | None, ADDRESS] = Field(default=None, examples=["127.0.0.1"])
    """The address at which it runs already, in environment "host". It is asked and looked at, and
    neither started nor stopped. Of one on another machine only its replies are seen. Without
    `command`, `address` or `socket` says that the server runs already."""

    @model_validator(mode="after")
    def _is_somewhere(self) -> Self:
        raise_all(self._place_problems())
        return self

    def _place_problems(self) -> Iterator[PydanticCustomError]:
        if self.socket is None and self.port is None:
            yield problem("is missing", "port")
        if self.address is None and (self.socket is None or self.port is not None):
            yield problem("is missing", "address")
        if self.port is None and self.address is not None and self.socket is not None:
            yield problem("goes with a port; say which, or remove it", "address")
        if self.socket is not None and self.socket[0] not in "/@":
            yield problem(
                f'is where a server runs already: say its whole path, such as "/run/{self.socket}"',
                "socket",
            )


class Address(Server):
    """A server that somebody else started."""

    kind = "address"
    programs: ClassVar[Mapping[str, str]] = {}
    soft_resources: ClassVar = {}
    own_options = AddressOptions
    worker_threads: ClassVar[bool | None] = None
    stands = True

    options: AddressOptions

    @classmethod
    def spoken(cls, options: Options) -> Mapping[str, int]:
        """What the file says."""
        assert isinstance(options, AddressOptions)
        return {options.speaks(): options.port or 0}

    @classmethod
    def listens_on(cls, options: Options) -> str | None:
        """Where the file says."""
        assert isinstance(options, AddressOptions)
        return options.address

    @classmethod
    def socket_in(cls, options: Options, folder: Path) -> str | None:  # noqa: ARG003
        """Where the file says."""
        assert isinstance(options, AddressOptions)
        return options.socket

    @classmethod
    def caller_protocol(cls, options: Options, spoken: Mapping[str, int]) -> str | None:  # noqa: ARG003
        """It calls whom it calls."""
        return next(iter(spoken))

    def render(self) -> dict[str, str]:
        """Its configuration is nobody's business here."""
        return {}

    def prepare(self) -> None:
        """Nothing is laid down."""

    def command(self) -> list[str]:
        """Nothing is started."""
        return []

    def greet(self) -> None:
        """A page if the file names one; else a connection."""
        if self.options.ready is not None:
            host = self.options.called(self.site.endpoint)
            http_answers(self.site.connect, host, self.options.ready)
        else:
            self.site.connect().close()
        self.site.check_socket()
