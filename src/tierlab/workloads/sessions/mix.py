"""The mix that a transition table leads to in the long run."""

from __future__ import annotations

from collections.abc import Mapping

STEPS = 10_000
"""As many as Faban's; it ends long before."""
STABLE = 1e-12


def shares(transitions: Mapping[str, Mapping[str, float]], first: str) -> dict[str, float]:
    """Return each state's share of the visits (they sum to 1) of a session without an end: the
    stationary distribution of the Markov chain, by power iteration from `first` on.

    `transitions` has for each state the weights of the next ones; each row is normalised. The chain
    is made lazy (it rests as often as it moves), which changes no share, so that one that goes
    round in a circle comes to an end too.
    """
    rows = {
        state: {to: weight / sum(row.values()) for to, weight in row.items() if weight > 0}
        for state, row in transitions.items()
    }
    found = dict.fromkeys(rows, 0.0) | {first: 1.0}
    for _ in range(STEPS):
        moved = {state: share / 2 for state, share in found.items()}
        for state, row in rows.items():
            for to, probability in row.items():
                moved[to] += found[state] * probability / 2
        change = max(abs(moved[state] - found[state]) for state in rows)
        found = moved
        if change < STABLE:
            break
    return found
