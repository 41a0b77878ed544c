"""How sure a finding is: the share of findings with such evidence that was right.

The strength of its evidence (:mod:`tierlab.diagnosis.verdicts`) orders findings; by itself it is no
probability. With 210 disturbances of the real system (`bench/diagnosis`, seed 528107) 0.73, where
one exclusion could not be checked, was right in 59 of 60 findings, over all lengths of ticks, and
0.97 in 24 of 25. Without messages, which tell where requests waited, even the surest was right in
three of four only.
"""

import numpy as np

STRENGTHS, RIGHT = (0.0, 0.5, 0.73, 1.0), (0.0, 0.5, 0.93, 0.98)
"""Strength of evidence, and the share that was right; a straight line between."""
WITHOUT_MESSAGES = 0.8
"""What is left of it where the messages were not captured."""


def confidence(strength: float, *, messages: bool) -> float:
    """Return the confidence, 0..1, in a finding whose evidence is so strong."""
    right = float(np.interp(strength, STRENGTHS, RIGHT))
    return right if messages else WITHOUT_MESSAGES * right
