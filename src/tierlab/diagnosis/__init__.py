"""Why requests take seconds: from a run's tables to findings with evidence (DESIGN section 6).

The method starts from the thesis' four steps (seed 004, chapters 3 and 4): find the very long
requests, the queues that grew, the resource that saturated, and its cause. Each is done for every
visit and every tick instead of by eye.
"""

from tierlab.diagnosis.diagnose import diagnose
from tierlab.diagnosis.finding import Diagnosis, Finding

__all__ = ["Diagnosis", "Finding", "diagnose"]
