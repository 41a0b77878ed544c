"""What makes the figures less than they seem? The reader has to know it before them."""

from collections.abc import Set

from tierlab.analysis.facts import Facts
from tierlab.analysis.queues.visits import Linking, ServerVisits
from tierlab.analysis.requests.responses import Responses
from tierlab.analysis.requests.time_shares import TimeShares
from tierlab.analysis.resources.cpu_use import MUCH, CpuUse

_MANY = 0.01


def caveats(
    about: Facts,
    note: str | None,
    found: Responses | None,
    *,
    shares: TimeShares | None,
    entries: Set[str],
    visits: list[ServerVisits],
    linked: Linking | None,
    use: CpuUse | None,
    unseen: list[str],
    inputs: list[str],
) -> list[str]:
    """Return one sentence for each thing that a reader has to know before the figures.

    ``note`` says why the figures are not of the runtime, if they are not; ``entries`` are the tiers
    that users call; ``unseen`` is what was not seen of messages at UNIX sockets, and
    ``inputs`` what was not understood of the files that the application was brought with.
    """
    said = [
        _ending(about),
        note,
        _emptiness(about, found),
        _entries(shares, entries),
        _links(linked),
        _at_sockets(unseen),
        *inputs,
    ]
    said += [_unfinished(visits), _company(use)]
    return [sentence for sentence in said if sentence is not None]


def _ending(about: Facts) -> str | None:
    match about.state:
        case "interrupted":
            return "The trial was interrupted: the figures cover what it saw until then."
        case "failed":
            return f"The trial failed: {about.error or 'its manifest does not say why'}."
        case "running":
            return "The trial has not ended: the figures cover what it has written."
    return None


def _emptiness(about: Facts, found: Responses | None) -> str | None:
    if about.duration_s is None:
        return "Nothing was recorded: the tables are empty."
    if found is None:
        return "No request ended in the time that the figures cover."
    if found.time is None:
        return "Every request failed: there is no response time to show."
    return None


def _entries(shares: TimeShares | None, entries: Set[str]) -> str | None:
    """Users call a tier of each system; another that nothing is linked to has lost its callers."""
    first = [each.tier for each in shares.tiers if each.depth == 0] if shares is not None else []
    if len(first) < 2 or entries >= set(first):
        return None
    return (
        f"Nothing links the visits of {', '.join(first)}: the time of one counts in another's "
        "too, and the shares of the time are not to be believed."
    )


def _unfinished(visits: list[ServerVisits]) -> str | None:
    held = [each for each in visits if each.unfinished > _MANY * (each.count + each.unfinished)]
    if not held:
        return None
    counts = ", ".join(f"{each.unfinished:,} at {each.server}" for each in held)
    return (
        f"Visits that were never seen to leave ({counts}) stand in their server's queue until "
        "their connection was used again or the trial ended; they are in no visit time, "
        "and their tier's share of the time lacks them."
    )


def _links(linked: Linking | None) -> str | None:
    if linked is None or linked.unlinked <= _MANY * (linked.linked + linked.unlinked):
        return None
    share = linked.unlinked / (linked.linked + linked.unlinked)
    return (
        f"{share:.1%} of the visits below the first tier have no known parent: "
        "their time counts twice, in their own tier and in their unknown parent's."
    )


def _at_sockets(unseen: list[str]) -> str | None:
    if not unseen:
        return None
    return (
        f"Messages at UNIX sockets were not seen ({', '.join(unseen)}): the time that a server"
        " waits for them counts as its own."
    )


def _company(use: CpuUse | None) -> str | None:
    if use is None or use.other <= MUCH * use.cores:
        return None
    return (
        f"Other work used {use.other:.1f} of this machine's {use.cores} cores meanwhile: "
        "the figures are of a shared machine."
    )
