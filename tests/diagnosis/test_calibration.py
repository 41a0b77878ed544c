"""The proof's second table: findings by confidence, and the share of them that was right."""

from __future__ import annotations

import calibration
import numpy as np
import pytest
from score import Claim
from truth import Injected

from tierlab.diagnosis import Diagnosis
from tierlab.diagnosis.finding import Finding, Window

MS = 1_000_000


def drawn(confidence: float, right: float, count: int = 400) -> list[Claim]:
    """Findings of which that share is right."""
    return [Claim(confidence, n < right * count) for n in range(count)]


def finding(cause: str, tier: str, *starts_ms: int) -> Finding:
    windows = [Window(start_ns=at * MS, end_ns=(at + 100) * MS) for at in starts_ms]
    return Finding(
        cause=cause,
        subject=f"{tier}.1",
        tier=tier,
        words="",
        windows=windows,
        confidence=0.8,
        unusual=None,
        delayed=None,
        chain=[],
        evidence=[],
        ruled_out=[],
        not_ruled_out=[],
        remedies=[],
    )


def injected(cause: str, subject: str, at_ms: int) -> Injected:
    return Injected(1, cause, subject, at_ms * MS, (at_ms + 100) * MS, delayed=5, held=5)


@pytest.mark.parametrize(
    ("found", "right"),
    [
        (finding("disk", "db", 1000), True),
        (finding("disk", "db", 1000, 9000), True),
        (finding("disk", "db", 1000, 8000, 9000), False),
        (finding("lock", "db", 1000), False),
        (finding("disk", "app", 1000), False),
    ],
)
def test_a_finding_is_right_where_its_cause_was_at_its_tier(found: Finding, right: bool) -> None:
    """In at least half of its windows."""
    diagnosis = Diagnosis(verdict="findings", words="", findings=[found], missing={})

    assert calibration.claims(diagnosis, [injected("disk", "db.1", 1000)]) == [Claim(0.8, right)]


@pytest.mark.parametrize(
    ("found", "right"),
    [
        (finding("cold_cache", "db", 9000), True),
        (finding("cold_cache", "db", 100), False),
        (finding("cold_cache", "app", 9000), False),
        (finding("disk", "db", 9000), False),
    ],
)
def test_a_cache_that_is_still_cold_was_held_against_the_confidence(
    found: Finding, right: bool
) -> None:
    """The score took it for founded, and the same finding was a wrong claim here."""
    diagnosis = Diagnosis(verdict="findings", words="", findings=[found], missing={})

    emptied = injected("cold_cache", "db.1", 1000)
    assert calibration.claims(diagnosis, [emptied]) == [Claim(0.8, right)]


def test_a_finding_without_a_cause_claims_nothing() -> None:
    unknown = finding("unknown", "db", 1000)
    diagnosis = Diagnosis(verdict="findings", words="", findings=[unknown], missing={})

    assert calibration.claims(diagnosis, []) == []


def test_confidences_that_are_the_share_that_was_right_hold() -> None:
    found = [*drawn(0.55, 0.6), *drawn(0.75, 0.7), *drawn(0.95, 0.97)]

    assert [each.holds for each in calibration.bins(found)] == [True, True, True]
    assert calibration.calibrated(found)
    assert "Right would be" not in calibration.markdown(found)


def test_a_confidence_that_says_too_much_is_told_with_what_it_should_be() -> None:
    found = [*drawn(0.55, 0.6), *drawn(0.95, 0.7)]

    assert [each.holds for each in calibration.bins(found)] == [True, False]
    assert not calibration.calibrated(found)
    assert "| 0.9 to 1.0 | 400 | 0.95 | 0.70 (0.65 to 0.74) | **no** |" in calibration.markdown(
        found
    )
    assert calibration.mended(found)[0][0] == 0.55
    assert [is_ for _, is_ in calibration.mended(found)] == pytest.approx([0.6, 0.7])


def test_few_findings_tell_nothing() -> None:
    (only,) = calibration.bins(drawn(0.95, 0.0, count=19))

    assert only.holds is None
    assert "too few to tell" in str(only)


def test_what_is_mended_is_calibrated() -> None:
    """Overconfident findings, mapped by what half of them was right in, on the other half."""
    dice = np.random.default_rng(3)
    said = dice.uniform(0.4, 0.97, 4000)
    found = [Claim(float(each), bool(dice.random() < each**2)) for each in said]
    learned, held_out = found[::2], found[1::2]
    assert not calibration.calibrated(held_out)

    steps = np.array(calibration.mended(learned))

    def mended(claim: Claim) -> Claim:
        at = max(0, int(np.searchsorted(steps[:, 0], claim.confidence, side="right")) - 1)
        return Claim(float(steps[at, 1]), claim.right)

    assert calibration.calibrated([mended(each) for each in held_out])
