"""A server of the user's own that runs already: Tierlab neither starts nor stops it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar

from pydantic import Field

from tierlab.servers.base import Options, Server
from tierlab.servers.greetings import http_answers
from tierlab.servers.own_options import ADDRESS, PORT, OwnOptions


class AddressOptions(OwnOptions):
    """Where a server of the user's own runs already."""

    port: Annotated[int, PORT] = Field(examples=[8080])
    """The TCP port that it listens on."""

    address: Annotated[str, ADDRESS] = Field(examples=["127.0.0.1"])
    """The address at which it runs already, in environment "host". It is asked and looked at, and
    neither started nor stopped. Of one on another machine only its replies are seen."""


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
        return {options.speaks(): options.port}

    @classmethod
    def listens_on(cls, options: Options) -> str | None:
        """Where the file says."""
        assert isinstance(options, AddressOptions)
        return options.address

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
