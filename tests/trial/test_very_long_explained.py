"""Very long requests of a real trial: each one's seconds are in its retransmissions and visits."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator

import numpy as np
import pytest

import tierlab as api
from tests.command import Command
from tests.figures import figure
from tests.trial.conftest import EXPERIMENT
from tierlab.analysis.observed import Observed, observe
from tierlab.analysis.requests.dropped import retransmitted, waiters
from tierlab.analysis.requests.explain_request import explain

pytestmark = [
    pytest.mark.alone,
    pytest.mark.slow,
    pytest.mark.privileged,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root"),
]

USERS = 800
STOPPED = """
start = "3s"

[system.web.soft]
threads = 20
backlog = 16

[[disturb]]
class = "freeze"
on = "web.1"
at = "1s"
duration = "1800ms"

[[disturb]]
class = "freeze"
on = "db.1"
at = "5500ms"
duration = "2200ms"
"""
"""A small accept queue that overflows; the second SYN is dropped too, so its sender waits 3 s. Who
met the first freeze is answered before the second, and who met that before the end."""


@pytest.fixture(scope="module")
def observed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Observed]:
    folder = tmp_path_factory.mktemp("very-long")
    file = folder / "very-long.toml"
    text = EXPERIMENT.format(name="very-long", users=USERS, up=4, run=9, down=3).rstrip()
    file.write_text(text + STOPPED)
    ended = Command(folder, "run", file).end()
    assert ended.status == 0, ended.stderr
    found = observe(api.open(folder / "runs" / "very-long" / "001"))
    yield found
    found.db.close()


def test_seconds_are_explained_to_the_request(observed: Observed) -> None:
    assert observed.whole is not None
    found = explain(observed.db, observed.whole, ["web.1"], 2.0)
    assert found is not None
    count = found.end_ns.size
    figure(
        f"{count} requests over 2 s, {found.explained.mean():.4%} explained within 5 ms, "
        f"{np.count_nonzero(found.retransmission_ns)} waited for a SYN sent again, "
        f"rest {np.median(found.rest_ns) / 1e6:.2f} ms in the median"
    )
    assert count >= 100
    assert np.count_nonzero(found.retransmission_ns) >= 30
    # 99 of 100, as far as so few tell: three standard errors.
    assert np.count_nonzero(~found.explained) <= 0.01 * count + 3 * math.sqrt(0.01 * count)
    assert np.unique(found.page_visit[found.page_visit >= 0]).size >= 0.98 * count


def test_users_began_evenly_over_the_time_that_was_asked_for(observed: Observed) -> None:
    ramp_up = observed.run.manifest.phases[0]
    began = np.sort(
        [
            (first - ramp_up.start_ns) / 1e9
            for (first,) in observed.db.execute(
                'SELECT min(intended_ns) FROM requests GROUP BY "user"'
            ).fetchall()
        ]
    )
    assert began.size == USERS
    assert began == pytest.approx(np.linspace(0, 3, USERS, endpoint=False), abs=0.05)


def test_every_retransmission_that_the_kernel_counted_has_its_visit(observed: Observed) -> None:
    assert observed.whole is not None
    dropped = retransmitted(observed.db, observed.whole)
    (counted,) = observed.db.execute("SELECT sum(syn_retransmissions) FROM tcp").fetchone() or (0,)
    again = int(dropped.retransmissions.sum())
    figure(f"{counted} SYNs sent again by the kernel's count, {again} by the tracer's")
    assert again > 0
    assert again == pytest.approx(float(counted), rel=0.02)
    assert waiters(observed.db, dropped).found.mean() >= 0.95
