"""Calls between servers as a file has them beside those that were seen: a sentence each."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from tierlab.tables.manifest import SOME_CALLS, Manifest
from tierlab.topology import PROTOCOLS, TLS, Call, Seen, heard, spoken


@dataclass(frozen=True)
class Checked:
    """A sentence, and whether what it is about works; None where one cannot say."""

    works: bool | None
    sentence: str


@dataclass
class CheckedCalls:
    """What was found, and the keys that would make the file say so, by table."""

    found: list[Checked] = field(default_factory=list)
    keys: dict[str, dict[str, object]] = field(default_factory=dict)


def checked_calls(manifest: Manifest, left_open: Collection[str]) -> CheckedCalls:
    """Compare them. ``left_open`` are the tables whose calls the file leaves to be found.

    Nothing is said of calls if nobody looked.
    """
    compared = _Compared(manifest, left_open)
    return CheckedCalls(list(compared.sentences()), compared.keys)


class _Compared:
    """What a file has, and what was seen."""

    def __init__(self, manifest: Manifest, left_open: Collection[str]) -> None:
        self.keys: dict[str, dict[str, object]] = {}
        self._servers, self._left_open = manifest.servers, left_open
        self._declared = {(each.caller, each.callee): each for each in manifest.calls or ()}
        self._looked = manifest.seen is not None
        self._left_out = manifest.not_measured.get(SOME_CALLS)
        self._outside = _outside(manifest.seen or ())
        self._seen: dict[tuple[str, str], list[Seen]] = {}
        for each in manifest.seen or ():
            if each.callee is not None and each.caller is not None:
                self._seen.setdefault((each.caller, each.callee), []).append(each)

    def sentences(self) -> Iterator[Checked]:
        """One for each call, declared or seen."""
        if not self._looked:
            return
        for pair, call in self._declared.items():
            yield self._of_declared(call, self._seen.get(pair, []))
        for pair in self._seen:
            if pair not in self._declared:
                yield self._of_undeclared(*pair)
        for seen in self._seen.values():
            yield from self._at_another_address(seen)
        yield from map(_of_outside, self._outside)
        if self._left_out is not None:
            yield Checked(None, f"Of calls was not looked at: {self._left_out}.")

    def _of_declared(self, call: Call, seen: Sequence[Seen]) -> Checked:
        is_open = self._servers[call.caller].tier in self._left_open
        names, said = f"{call.caller} -> {call.callee}", "found" if is_open else "declared and seen"
        protocols = spoken(seen)
        if is_open:
            self._say_calls(call.caller)
        if not seen:
            said = "not seen, and taken for granted" if is_open else "declared, not seen"
            return Checked(None, f"{names} {call.protocol}: {said}; --seconds has it seen longer.")
        if _nobody_answered(seen):
            return Checked(False, f"{names} {call.protocol}: {said}, but refused each time.")
        if not protocols or protocols[0] == call.protocol:
            return Checked(True, f"{names} {call.protocol}: {said} ({_count(seen)}).")
        if protocols[0] == TLS:
            sentence = f"{said}, but encrypted (TLS), so that no message can be read"
            known = PROTOCOLS.get(call.protocol)
            how = f" ({known.without_tls})" if known and known.without_tls else ""
            remedy = f"servers of one host can do without it{how}"
            return Checked(None, f"{names} {call.protocol}: {sentence}: {remedy}.")
        table = self._servers[call.callee].tier
        self.keys.setdefault(table, {})["protocol"] = protocols[0]
        if is_open:
            return Checked(True, f"{names} {protocols[0]}: {said} ({_count(seen)}).")
        sentence = f'{said}, but the file has {call.protocol}: say protocol = "{protocols[0]}"'
        return Checked(False, f"{names} {protocols[0]}: {sentence} in {table}.")

    def _of_undeclared(self, caller: str, callee: str) -> Checked:
        seen, table = self._seen[caller, callee], self._servers[caller].tier
        self._say_calls(caller)
        names = f"{caller} -> {callee} {heard(seen)}"
        if table in self._left_open:
            return Checked(True, f"{names}: found ({_count(seen)}).")
        return Checked(False, f"{names}: seen, not declared ({_count(seen)}); add it to calls.")

    def _say_calls(self, caller: str) -> None:
        """The file is to say whom a server calls, by what it has and by what was seen."""
        called = [each for source, each in (*self._declared, *self._seen) if source == caller]
        calls = list(dict.fromkeys(self._servers[each].tier.rpartition(".")[2] for each in called))
        self.keys.setdefault(self._servers[caller].tier, {})["calls"] = calls

    def _at_another_address(self, seen: Sequence[Seen]) -> Iterator[Checked]:
        """Calls that reach a server elsewhere than where its messages are read."""
        for each in seen:
            server = self._servers[str(each.callee)]
            if each.socket is not None:
                if each.socket != server.socket:
                    table = server.tier.rpartition(".")[2]
                    self.keys.setdefault(server.tier, {})["socket"] = each.socket
                    yield Checked(
                        False,
                        f"{each.caller} calls {each.callee} at {each.socket}, where its messages"
                        f' are not read: say socket = "{each.socket}" in {table}.',
                    )
            elif (each.address, each.port) != (server.address, server.port):
                yield Checked(
                    False,
                    f"{each.caller} calls {each.callee} at {each.address}:{each.port}, but messages"
                    f" are read at {server.address}:{server.port}: have it called there, or say"
                    " where it listens with address and port.",
                )


def _outside(seen: Sequence[Seen]) -> list[Seen]:
    """Calls that lead to no server; of a place that a server is known to call, what is not known
    whose it was is taken for that one's.
    """
    found = [each for each in seen if each.callee is None]
    known = {each.where for each in found if each.caller is not None}
    return [each for each in found if each.caller is not None or each.where not in known]


def _nobody_answered(seen: Sequence[Seen]) -> bool:
    """Of the last connection the refusal may not have been seen any more."""
    return any(each.refused for each in seen) and not any(each.spoken for each in seen)


def _count(seen: Sequence[Seen]) -> str:
    connections = sum(each.connections for each in seen)
    return f"{connections} connection{'s' if connections != 1 else ''}"


def _of_outside(seen: Seen) -> Checked:
    protocol = f" ({seen.protocol})" if seen.protocol else ""
    called = f"{seen.caller or 'One of the servers'} calls {seen.where}{protocol}"
    where = f"{called}, which is no server of the file"
    if seen.socket is not None:
        remedy = f'give it a table of its own with socket = "{seen.socket}"'
        return Checked(None, f"{where}: {remedy}, else its time is told as {seen.caller}'s.")
    if _nobody_answered([seen]):
        remedy = "tell it where one of the file's is, as in {db.address} and {db.port}"
        return Checked(False, f"{where} and answers nobody in a trial: {remedy}.")
    return Checked(None, f"{where}: how long it waits there is not told apart.")
