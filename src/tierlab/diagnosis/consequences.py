"""What was found and only follows from something else that was: it is not told again."""

from collections.abc import Sequence

from tierlab.diagnosis.backlog import without_backlogs
from tierlab.diagnosis.lasting import without_echoes
from tierlab.diagnosis.merge import Occurrence
from tierlab.diagnosis.run_context import RunContext
from tierlab.diagnosis.waited_first import without_waited_first


def without_consequences(
    long: Sequence[Occurrence], short: Sequence[Occurrence], run: RunContext
) -> list[Occurrence]:
    """Return what is told of saturations that lasted and of stalls. An overload that works off what
    had waited goes first: it is nobody's reason, so nothing follows from it.
    """
    long = without_waited_first(without_backlogs(long, short, run), run)
    short = without_echoes(short, long)
    return [*long, *without_waited_first(without_backlogs(short, short, run), run)]
