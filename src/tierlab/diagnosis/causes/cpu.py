"""CPU: the server was ready to run, and somebody else had its cores."""

from tierlab.diagnosis.case import Case, against, ramp
from tierlab.diagnosis.cause import Cause, Leading
from tierlab.diagnosis.evidence import CORES, SOME, faulting, paused, pressure, starved
from tierlab.diagnosis.finding import Remedy, Suspect
from tierlab.diagnosis.scene import Scene
from tierlab.diagnosis.surge import surge

NAME = "cpu"


def judge(scene: Scene) -> Suspect:
    """Weigh the server's wait for CPU and the CPU time that served no request."""
    case = Case(NAME, scene.subject)
    waited = pressure(scene, "cpu")
    figure = "" if waited is None else f" {waited:.0%} of the time"
    case.direct("pressure", starved(scene), f"its threads were ready and got no CPU{figure}")
    others = foreign(scene)
    cores = "" if others is None else f": {others:.1f} cores"
    case.direct(
        "domain", ramp(others, 0.2, 0.6), f"CPU time went where no request was served{cores}"
    )
    case.beside("domain", against(faulting(scene)), "it did not read pages back after faults")
    if scene.kind == "tomcat":
        case.beside("events", against(ramp(paused(scene), 0.3, 0.6)), "no pause of its own runtime")
    case.beside("visits", against(ramp(surge(scene), 2.0, 4.0)), "no surge of users")
    return case.suspect()


def foreign(scene: Scene) -> float | None:
    """Return the cores used in the window, in the server's domain or outside of all, beyond usual.

    Outside is the machine's busy time less all domains'; what the laboratory itself uses is in its
    usual value.
    """
    own, outside = scene.signal("domain", CORES), _outside(scene)
    if own is None or outside is None:
        return None
    here = own.mean(scene.window)
    return None if here is None else max(here - 2 * own.usual, outside)


def _outside(scene: Scene) -> float | None:
    total = usual = 0.0
    signs = [(1.0, scene.signals.get("cpu", "busy", core)) for core in _cores(scene)]
    signs += [(-1.0, scene.signals.get("domain", CORES, name)) for name in scene.servers]
    for sign, signal in signs:
        mean = None if signal is None else signal.mean(scene.window)
        if signal is None or mean is None:
            return None
        total += sign * mean
        usual += sign * signal.usual
    return total - max(0.0, usual)


def _cores(scene: Scene) -> list[str]:
    return scene.signals.subjects("cpu", "busy")


def happened(scene: Scene) -> str:
    """Say what happened."""
    others = foreign(scene)
    cores = f" ({others:.1f} cores' worth)" if others else ""
    return f"waited for a CPU that a neighbour on its cores kept busy{cores}"


def remedies(scene: Scene) -> list[Remedy]:
    """Say what to change."""
    return [
        Remedy(
            change=f"pin {scene.subject} and its neighbour to different cores",
            expected="it gets a CPU whenever it has work",
        ),
        Remedy(
            change=f"give {scene.subject}'s domain a higher weight than its neighbours'",
            expected="it waits for a fraction of the time",
        ),
    ]


CAUSE = Cause(
    NAME,
    "a neighbour on the CPU",
    judge,
    happened,
    remedies,
    Leading("pressure", SOME, "resource = 'cpu'"),
    follows=True,
)
