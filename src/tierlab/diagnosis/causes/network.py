"""Network: what was sent to a server reached it late, while both ends were idle."""

from tierlab.diagnosis.case import Case, against, ramp
from tierlab.diagnosis.cause import Cause
from tierlab.diagnosis.evidence import paused, starved, stopped
from tierlab.diagnosis.finding import Remedy, Suspect
from tierlab.diagnosis.scene import Scene

NAME = "network"
MOSTLY = 0.5


def judge(scene: Scene) -> Suspect | None:
    """Weigh packets that queued before the wire and waits that ended with an arrival downstream."""
    receiver, share = _receiver(scene)
    if receiver is None and scene.leaving is not None:
        return None
    case = Case(NAME, receiver or scene.subject)
    figure = "" if share is None else f": {share:.0%} of it"
    case.direct("visits", ramp(share, MOSTLY, 0.8), f"the wait was before {receiver}{figure}")
    case.direct("net", ramp(_queued(scene), 0, 500), "packets waited to be sent")
    case.beside("domain", against(stopped(scene)), f"{scene.subject} was not stopped")
    case.beside("pressure", against(starved(scene)), f"{scene.subject} did not wait for a CPU")
    if scene.kind == "tomcat":
        case.beside("events", against(ramp(paused(scene), 0.3, 0.6)), "no pause of its runtime")
    return case.suspect()


def _receiver(scene: Scene) -> tuple[str | None, float | None]:
    """Return who was reached late, and the share of the waiting that ended there: a callee, or the
    caller where the waiting ended with the reply (the server listed before it: of a tier of
    several, the last). None for replies to the users, and where messages were not captured.
    """
    if scene.leaving is None:
        return None, None
    place = scene.servers.index(scene.subject)
    caller = scene.servers[place - 1] if place else None
    replied = max(0.0, 1.0 - sum(scene.toward.values()))
    return max([*scene.toward.items(), (caller, replied)], key=lambda each: each[1])


def _queued(scene: Scene) -> float | None:
    """Return the most bytes that any interface held back in the window.

    An interface without a queueing discipline (null) holds nothing back.
    """
    if not scene.signals.sampled("net", "queued_bytes"):
        return None
    most = 0.0
    for interface in scene.signals.subjects("net", "queued_bytes"):
        signal = scene.signals.get("net", "queued_bytes", interface)
        seen = None if signal is None else signal.within(scene.window)
        if seen is not None and seen.size:
            most = max(most, float(seen.max()))
    return most


def happened(_scene: Scene) -> str:
    """Say what happened."""
    return "was reached late: packets on the way to it waited, while both ends were idle"


def remedies(_scene: Scene) -> list[Remedy]:
    """Say what to change."""
    return [
        Remedy(
            change="find what limits the rate on that way: a shaper or policy, a saturated link, a "
            "neighbour's transfer; give this traffic its own class",
            expected="requests arrive as they are sent",
        )
    ]


CAUSE = Cause(NAME, "a slow network", judge, happened, remedies, None)
