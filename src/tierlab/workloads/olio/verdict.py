"""When a run of Olio passes: the limits and checks of the published client (Apache Olio 0.2,
`UIDriver.java`, 2010).
"""

from __future__ import annotations

from collections.abc import Mapping

from tierlab.tables.rules import Check, OperationRule, RunRules
from tierlab.values.quantities import SECOND

LIMITS_S: Mapping[str, int] = {
    "HomePage": 1,
    "Login": 1,
    "TagSearch": 2,
    "EventDetail": 2,
    "PersonDetail": 2,
    "AddPerson": 3,
    "AddEvent": 4,
}
"""That nine in ten of each operation keep."""
MOST_USERS_PER_RATE = 5.25
ANY = 1e-9
"""More than none, on average."""

CHECKS = (
    Check(
        name="attendee added to an event viewed",
        operation="EventDetail",
        of="step",
        step="AddAttendee",
        least=0.06,
    ),
    Check(
        name="images referenced on the home page",
        operation="HomePage",
        of="images_named",
        least=9.5,
        most=10.5,
    ),
    Check(name="images loaded per home page", operation="HomePage", of="images", least=3),
    Check(name="image bytes per home page", operation="HomePage", of="image_bytes", least=15_000),
    Check(
        name="images referenced by a tag's events",
        operation="TagSearch",
        of="images_named",
        least=ANY,
    ),
    Check(name="images of an event", operation="EventDetail", of="images_named", least=1),
)


def rules(shares: Mapping[str, float]) -> RunRules:
    """The rules, with the share of the mix that each operation is to have."""
    return RunRules(
        operations={
            name: OperationRule(share=shares[name], limit_ns=limit * SECOND)
            for name, limit in LIMITS_S.items()
        },
        most_users_per_rate=MOST_USERS_PER_RATE,
        checks=CHECKS,
    )
