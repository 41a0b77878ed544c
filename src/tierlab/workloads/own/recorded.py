"""Users who do what a browser's recording shows, in the driver's form."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from tierlab.errors import UserError
from tierlab.exchange.har import Exchange, Recording, read_recording
from tierlab.workloads.own.checks import check_matched, rules, with_expected
from tierlab.workloads.own.origins import Origins, is_number, is_token
from tierlab.workloads.own.page_kinds import kind
from tierlab.workloads.own.recording_notes import notes_of
from tierlab.workloads.own.secrets import is_sensitive
from tierlab.workloads.own.site import host_key, is_near
from tierlab.workloads.own.slots import (
    FORM,
    Kind,
    Slot,
    body_kind,
    body_slots,
    header_slots,
    says_origin,
    target_slots,
)
from tierlab.workloads.own.steps import METHODS, NO_SERVERS, Step, Visit, is_resource, visit
from tierlab.workloads.sessions.delay import think
from tierlab.workloads.sessions.description import State

MOST_STEPS = 240
"""The driver tells 250 states apart."""
SEARCHED = re.compile(r"q|query|search|s|term|terms|keyword|keywords|text|name", re.I)
"""What a field is called in which users search; what was searched for is drawn again."""
TYPES: dict[Kind, str] = {
    "form": FORM,
    "json": "application/json",
    "multipart": "multipart/form-data",
    "plain": "application/octet-stream",
}
"""What a body is called whose recording does not say."""

Source = dict[str, Any]


def recorded(
    files: Sequence[Path],
    expect: Mapping[str, str],
    *,
    own_think: bool,
    servers: Mapping[str, str] = NO_SERVERS,
) -> dict[str, Any]:
    """The description of users each of whom repeats one of the visits, every one as many.

    `own_think`: each step's think time, in the mean, is the recorded one. `servers`: further hosts
    whose requests are sent, each with the server that it is. `UserError` that names the file where
    it is no recording, or none has a page that is as `expect` has it, or a request to such a host.
    """
    states: list[State] = []
    sessions = []
    for number, file in enumerate(files, start=1):
        lead = f"{number}." if len(files) > 1 else ""
        repeated = _states(_read(file, servers)[1].steps, lead, expect, own_think=own_think)
        names = [state["name"] for state in repeated]
        onward = [*names[1:], "End"]
        sessions.append(
            {
                "name": file.stem,
                "share": 1.0 / len(files),
                "home": names[0],
                "identity": {"numbers": [1, 1], "values": {}},
                "transitions": {name: [(to, 1.0)] for name, to in zip(names, onward, strict=True)},
            }
        )
        states += repeated
    if len(states) > MOST_STEPS:
        raise UserError(
            f"{files[0]}: has {len(states)} steps, with the other recordings; at most {MOST_STEPS}"
            " are played: record a shorter visit."
        )
    for host, server in servers.items():
        if not any(state.get("server") == server for state in states):
            raise UserError(
                f"{', '.join(map(str, files))}: has no request to {host} that users can send, which"
                f" sessions.servers names as {server}; remove it there, or record a visit with one."
            )
    check_matched(expect, map(_path, states), ", ".join(map(str, files)))
    return {
        "name": "own recording",
        "home": states[0]["name"],
        "states": states,
        "sessions": sessions,
        "sessions_in_turn": True,
        "rules": rules(),
    }


def notes(files: Sequence[Path], servers: Mapping[str, str] = NO_SERVERS) -> list[str]:
    """Return what users do not do of the recordings, and what of the files was not understood, each
    a sentence. Raises UserError where a file is no recording, as `recorded` does.
    """
    return [each for file in files for each in notes_of(file.name, *_read(file, servers))]


def further_hosts(files: Sequence[Path]) -> list[str]:
    """Return the hosts near the site to which programs of its pages sent requests over plain HTTP,
    each by the name that `host_key` has for it.
    """
    found: dict[str, None] = {}
    for file in files:
        visit = _read(file)[1]
        for each in visit.left_out.get("elsewhere", ()):
            near = each.scheme == "http" and is_near(each.host, visit.site.name)
            if near and each.method in METHODS and not is_resource(each):
                found[host_key(each.host)] = None
    return list(found)


def _read(file: Path, servers: Mapping[str, str] = NO_SERVERS) -> tuple[Recording, Visit]:
    try:
        changed_ns = file.stat().st_mtime_ns
    except OSError as error:
        raise UserError(f"{file}: cannot be read: {error.strerror}.") from None
    return _read_once(file, changed_ns, tuple(servers.items()))


@lru_cache(maxsize=8)
def _read_once(
    file: Path, _changed_ns: int, servers: tuple[tuple[str, str], ...]
) -> tuple[Recording, Visit]:
    recording = read_recording(file)
    return recording, visit(recording.exchanges, str(file), dict(servers))


def _states(
    steps: Sequence[Step], lead: str, expect: Mapping[str, str], *, own_think: bool
) -> list[State]:
    rendering = _Rendering(steps)
    states = [rendering.state(number) for number in range(len(steps))]
    for number, (step, state) in enumerate(zip(steps, states, strict=True)):
        state["name"] = f"{lead}{number + 1} {state['interaction']}"
        state["extract"] = rendering.origins.extracts.get(number, [])
        if own_think or step.think_ns == 0:
            state["delay"] = think(step.think_ns)
        states[number] = with_expected(state, _path(state), expect)
    return states


def _path(state: State) -> str:
    """What its interaction asks for, without the method."""
    path = str(state["interaction"]).partition(" ")[2]
    return path.removesuffix(_at(state.get("server")))


def _at(server: str | None) -> str:
    """How an interaction's name ends that is asked of another server than the site."""
    return "" if server is None else f" at {server}"


class _Rendering:
    """The states of a visit, from the first request on."""

    def __init__(self, visit: Sequence[Step]) -> None:
        self._visit = visit
        self.origins = Origins([step.text for step in visit])
        self._values = _values(visit)
        # What the first request knew, no reply had to tell.
        self._base = visit[0].exchange.target.partition("?")[0].split("/")[1]

    def state(self, number: int) -> State:
        """The state of a step, without its name."""
        step = self._visit[number]
        exchange = step.exchange
        target = list(target_slots(exchange.target, self._base))
        rest = _joined(self._source(number, slot) for slot in target)
        state: State = {
            "interaction": f"{exchange.method} {kind(exchange.target)}{_at(step.server)}",
            "method": exchange.method,
            "path": "/",
            "rest": _without_first_slash(rest),
            "headers": [
                {"name": name, "from": _one(_joined(self._source(number, each) for each in slots))}
                for name, slots in header_slots(exchange)
            ],
            "resources": list(step.resources),
        }
        if step.server is not None:
            state["server"] = step.server
        if says_origin(exchange):
            state["origin"] = True
        if step.failed:
            state["images"] = {"except": list(step.failed)}
        if not (200 <= step.status < 300 or step.status == 304):
            state["expect"] = {"status": [step.status]}
        return state | self._body(number, exchange)

    def _body(self, number: int, exchange: Exchange) -> State:
        if not exchange.body:
            said = exchange.content_type
            return {"body": {"content_type": said, "values": "plain", "parts": []}} if said else {}
        if (values := body_kind(exchange)) == "plain":
            # Whatever is in a body that cannot be read may be secret.
            parts: list[Source] = [{"secret": exchange.body}]
        else:
            parts = _joined(self._source(number, slot) for slot in body_slots(exchange))
        return {
            "body": {
                "content_type": exchange.content_type or TYPES[values],
                "values": "plain" if values == "multipart" else values,
                "parts": parts,
            }
        }

    def _source(self, number: int, slot: Slot) -> Source:
        if not slot.name:
            return {"constant": slot.raw}
        for name, value in self._visit[number].exchange.cookies:
            # Sent as a cookie and beside it: a token against forged requests.
            if slot.value in (value, unquote(value)) and is_token(unquote(slot.value)):
                return {"cookie" if slot.value == value else "cookie_decoded": name}
        if not slot.fixed:
            if (known := self.origins.remembered(number, slot)) is not None:
                return {"remembered": known}
            # Two one-time codes are no numbers to choose from.
            if len(drawn := self._drawn(number, slot)) > 1 and not is_sensitive(slot.name, ""):
                return {"choice": drawn}
        if is_sensitive(slot.name, slot.value):
            return {"secret": slot.value}
        return {"constant": slot.raw}

    def _drawn(self, number: int, slot: Slot) -> list[str]:
        """What any user may send in the slot's place: numbers, and what was searched for."""
        found = self._values.get(_place(self._visit[number].exchange, slot), [])
        return found if SEARCHED.fullmatch(slot.name) or all(map(is_number, found)) else []


def _values(visit: Sequence[Step]) -> dict[tuple[str, ...], list[str]]:
    """What stands in each place of a kind of request, over all of the visit: different values."""
    found: dict[tuple[str, ...], dict[str, None]] = {}
    for step in visit:
        exchange = step.exchange
        for slot in (*target_slots(exchange.target), *body_slots(exchange)):
            if slot.name:
                found.setdefault(_place(exchange, slot), {})[slot.value] = None
    return {place: list(values) for place, values in found.items()}


def _place(exchange: Exchange, slot: Slot) -> tuple[str, ...]:
    operation = _operation(exchange)
    host = host_key(exchange.host)
    return (exchange.method, host, kind(exchange.target), operation, slot.place, slot.name)


def _operation(exchange: Exchange) -> str:
    """Which of the operations of one address is asked for: GraphQL's by its name or its text, and
    JSON-RPC's by its method. What stands in one's place is not the other's.
    """
    values = {slot.name: slot.value for slot in body_slots(exchange) if slot.place == "body"}
    if "jsonrpc" in values:
        return values.get("method", "")
    text = values.get("query", "")
    return values.get("operationName", "") or (text if "{" in text else "")


def _joined(sources: Iterator[Source]) -> list[Source]:
    """The sources, constants that follow each other as one."""
    found: list[Source] = []
    for source in sources:
        if source == {"constant": ""}:
            continue
        if found and "constant" in source and "constant" in found[-1]:
            found[-1] = {"constant": found[-1]["constant"] + source["constant"]}
        else:
            found.append(source)
    return found


def _one(sources: list[Source]) -> Source:
    """The sources as one, which a header takes."""
    if len(sources) == 1:
        return sources[0]
    return {"joined": sources} if sources else {"constant": ""}


def _without_first_slash(rest: list[Source]) -> list[Source]:
    """A state's path is its first slash; what follows goes on from there."""
    first = rest[0]["constant"].removeprefix("/")
    return [*([{"constant": first}] if first else []), *rest[1:]]
