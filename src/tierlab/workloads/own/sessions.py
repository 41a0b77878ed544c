"""`[system.sessions]`: what the users of one's own application do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)
from pydantic_core import PydanticCustomError

from tierlab.errors import UserError
from tierlab.values.kinds import Whole
from tierlab.values.problem import problem, raise_all
from tierlab.values.section import Section
from tierlab.values.texts import Existing, ExistingFiles, Line, Lines, LineTable
from tierlab.workloads.own.logged import logged
from tierlab.workloads.own.pages import starts_as
from tierlab.workloads.own.recorded import recorded

WAYS = ("start", "har", "log")
"""The keys of which a table has one."""
OF_PAGES = ("pages", "avoid", "length")
OF_RECORDS = ("think",)
OF_RECORDINGS = ("servers",)
OF_LOGS = ("log_format",)
"""Keys that go with one of them."""


class Sessions(Section):
    """What users do: they follow links from pages on, do what was recorded, or what a log tells."""

    start: Annotated[tuple[str, ...] | None, Lines("paths")] = Field(default=None, examples=[["/"]])
    """Pages that sessions begin with; from there users follow links of the site, each as likely as
    the others of its page. Give this, `har` or `log`."""

    har: Annotated[tuple[str, ...] | None, ExistingFiles()] = Field(
        default=None, examples=[["visit.har"]]
    )
    """Recordings of a browser's (HAR), each a kind of session: its pages in order, with the think
    times between them. What changes from visit to visit (ids, tokens) is taken from the replies."""

    log: Annotated[str | None, Existing("file")] = Field(default=None, examples=["access.log"])
    """An access log of a web server's: the pages that were asked for without a form, how likely
    each is after each, and the think times between. Its format is recognised: common, combined,
    JSON, HAProxy's or W3C extended. It may be compressed (gzip, bzip2, xz)."""

    log_format: Annotated[str | None, Line("a format of lines")] = Field(
        default=None, examples=['$remote_addr - $remote_user [$time_local] "$request" $status']
    )
    """With `log`: the format of its lines, as `log_format` (nginx), `LogFormat` (Apache) or
    `log-format` (HAProxy) has it, if the log has one that is not recognised."""

    pages: Annotated[tuple[str, ...] | None, Lines("patterns of paths")] = Field(
        default=None, examples=[["/item/*", "/search"]]
    )
    """With `start`: kinds of page, `*` being any text, each of which the report tells by itself."""

    avoid: Annotated[tuple[str, ...] | None, Lines("texts")] = Field(
        default=None, examples=[["logout"]]
    )
    """With `start`: links with one of these texts in their target are not followed."""

    servers: Annotated[dict[str, str], LineTable("a table of servers")] = Field(
        default_factory=dict, examples=[{"localhost:8000": "api"}]
    )
    """With `har`: further hosts of the recordings, each with the server (the name of its table)
    that users ask in its place. It speaks HTTP, and no other server calls it. Without it, users ask
    the first server alone, and requests to other hosts are left out."""

    length: Annotated[int, Whole(1, 1000)] = 20
    """With `start`: pages of a session, in the mean."""

    think: Literal["recorded", "load"] = "recorded"
    """With `har` or `log`: think times as they were, each in the mean; or as `load.think` says."""

    expect: Annotated[dict[str, str], LineTable("a table of paths")] = Field(
        default_factory=dict, examples=[{"/cart": "Your cart"}]
    )
    """By the path of a page, `*` being any text: what the page has to say; a page that does not has
    failed. Of a recording, a status other than the recorded one is a failure too."""

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        raise_all(self._problems())
        return self

    def _unused(self) -> tuple[str, ...]:
        """The keys that mean nothing for such sessions."""
        of_logs = OF_LOGS if self.log is None else ()
        of_recordings = () if self.har else OF_RECORDINGS
        return (OF_PAGES if self.start is None else OF_RECORDS) + of_logs + of_recordings

    @model_serializer(mode="wrap", when_used="json")
    def _write(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        unused = self._unused()
        return {key: value for key, value in write(self).items() if key not in unused}

    def _problems(self) -> Iterator[PydanticCustomError]:
        given = [way for way in WAYS if getattr(self, way)]
        if len(given) != 1:
            yield problem("needs one of start (pages), har (a recording) and log (an access log)")
            return
        for key in self._unused():
            if key in self.model_fields_set:
                others = {"think": "har or log", "log_format": "log", "servers": "har"}
                other = others.get(key, "start")
                yield problem(f"goes with {other}; remove it", key)
        for path in self.start or ():
            if not path.startswith("/") or any(c <= " " for c in path):
                yield problem('must begin with "/" and have no blanks, as "/shop?lang=en"', "start")
        for pattern in self.pages or ():
            if not pattern.startswith(("/", "*")):
                yield problem('must begin with "/" or "*", as "/item/*"', "pages")
        yield from (wrong := list(self._expect_problems()))
        expect = {} if wrong else self.expect
        try:
            if self.har:
                files = [Path(file) for file in self.har]
                recorded(files, expect, own_think=True, servers=self.servers)
            if self.log is not None:
                logged(Path(self.log), expect, own_think=True, log_format=self.log_format)
        except UserError as error:
            said = str(error).rstrip(".")
            key = "log_format" if said.startswith("log_format: ") else given[0]
            yield problem(said.removeprefix("log_format: "), key)

    def _expect_problems(self) -> Iterator[PydanticCustomError]:
        for pattern in self.expect:
            if not pattern.startswith(("/", "*")):
                yield problem('must begin with "/" or "*", as "/cart"', "expect", pattern)
            elif self.start and "?" in pattern and not self._starts_as(pattern):
                yield problem(
                    "is no page of start; of one that is followed, leave out what follows the path",
                    "expect",
                    pattern,
                )

    def _starts_as(self, pattern: str) -> bool:
        return any(starts_as(pattern, start) for start in self.start or ())
