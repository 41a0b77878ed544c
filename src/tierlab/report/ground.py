"""What sets trials apart that nobody may have asked for, in one sentence beside the verdict."""

from collections.abc import Sequence

from tierlab.analysis.comparing.ground import Unlike


def warning(found: Sequence[Unlike]) -> str | None:
    """Say what the ground differs in, and that it may be all the difference; None where alike.

    >>> warning([Unlike(trait="kernel", groups={"6.1": ["first"], "6.18": ["second"]})])
    'Not on the same ground, which may be all the difference: kernel 6.1 (first), 6.18 (second).'
    """
    if not found:
        return None
    traits = "; ".join(f"{each.trait} {_values(each)}" for each in found)
    return f"Not on the same ground, which may be all the difference: {traits}."


def _values(each: Unlike) -> str:
    return ", ".join(f"{value} ({', '.join(names)})" for value, names in each.groups.items())
