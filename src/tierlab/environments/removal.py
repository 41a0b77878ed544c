"""Removing what a ledger lists: one way for the ordinary end of a trial and for `tierlab clean`.

Each kind of entry has one function (`removers`). What left its program's session is in no ledger:
it is told by the trial's token.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from tierlab.environments.identity import carriers
from tierlab.environments.ledger import Account, Entry, Ledger, discard
from tierlab.environments.process import end
from tierlab.environments.removers import REMOVERS, Outcome, describe
from tierlab.errors import UserError

GRACE = 5.0
"""Seconds between asking a process to end and killing it."""

_REST = 2
"""The rank of what does not run itself."""
_STRAYS = Entry(0, "process", {})
"""What is in no ledger: those count from 1."""


def remove_all(account: Account, grace: float) -> Iterator[Outcome]:
    """Remove all that is outstanding: what runs first, then the rest, the latest made first."""
    for entry in sorted(account.entries, key=lambda entry: (_rank(entry), -entry.number)):
        # A mistake with one thing must not keep the others from being removed.
        try:
            yield REMOVERS[entry.kind](entry, account, grace)
        except (OSError, KeyError) as error:
            yield Outcome(entry, False, f"could not remove {describe(entry)}: {error}")


def remove_account(account: Account) -> tuple[list[str], list[str]]:
    """Remove what a trial left whose process has ended; its ledger goes once nothing is left.

    Returns, in words, what was removed and what could not be.
    """
    removed, left = [], []
    for outcome in _remove_whole(account):
        if not outcome.done:
            left.append(outcome.note or describe(outcome.entry))
        elif outcome.note is not None:
            removed.append(outcome.note)
    if not left:
        discard(account.path)
    return removed, left


def remove_listed(ledger: Ledger, which: Callable[[Entry], bool] | None = None) -> list[str]:
    """Remove what an open ledger lists, or `which` of it, and strike it off.

    Returns what could not be removed, in words; it stays listed.
    """
    account, left = ledger.account(), []
    part = None if which is None else remove_all(_part(account, which), GRACE)
    for outcome in part or _remove_whole(account):
        if outcome.done:
            ledger.strike(outcome.entry)
        else:
            left.append(outcome.note or describe(outcome.entry))
    return left


def remove_trial(ledger: Ledger) -> None:
    """Remove all that a trial's ledger lists, and close it; nothing if it is closed already.

    Raises `UserError` with what stays behind.
    """
    if ledger.is_closed:
        return
    left = remove_listed(ledger)
    ledger.close()
    if left:
        raise UserError(f"trial {ledger.trial}: {'; '.join(left)}; 'tierlab clean' tries again.")


def _remove_whole(account: Account) -> Iterator[Outcome]:
    """Remove what runs, listed or not, and then the rest, which nobody uses any more."""
    yield from remove_all(_part(account, _runs), GRACE)
    # A control group has all that is in it ended, whatever session that went to.
    if not any(entry.kind == "cgroup" for entry in account.entries):
        yield _end_strays(account.token)
    yield from remove_all(_part(account, lambda entry: not _runs(entry)), GRACE)


def _end_strays(token: str) -> Outcome:
    """End programs that left the session of what started them, as daemons do."""
    try:
        ended = end(lambda: carriers(token), GRACE)
    except OSError as error:
        return Outcome(_STRAYS, False, f"could not end {_daemons(carriers(token))}: {error}")
    if left := carriers(token):
        return Outcome(_STRAYS, False, f"could not end {_daemons(left)}")
    return Outcome(_STRAYS, True, f"ended {_daemons(ended)}" if ended else None)


def _daemons(pids: Sequence[int]) -> str:
    return f"what left its session (process {', '.join(map(str, pids))})"


def _part(account: Account, which: Callable[[Entry], bool]) -> Account:
    return replace(account, entries=tuple(entry for entry in account.entries if which(entry)))


def _runs(entry: Entry) -> bool:
    return _rank(entry) < _REST


def _rank(entry: Entry) -> int:
    """Processes may be making a container or a guest at the moment, and those use the rest."""
    return {"process": 0, "container": 1, "guest": 1}.get(entry.kind, _REST)
