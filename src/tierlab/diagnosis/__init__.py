"""Why requests take seconds: from a run's tables to findings with evidence.

The method starts from the four steps of J. Park, "Performance Scalability of N-Tier Application in
Virtualized Cloud Environments" (PhD thesis, Georgia Institute of Technology, 2016), section 4.3:
find the very long requests, the queues that grew, the resource that saturated, and its cause. Each
is done for every visit and every tick instead of by eye.
"""

from tierlab.diagnosis.diagnose import Examined, diagnose
from tierlab.diagnosis.finding import Diagnosis, Finding

__all__ = ["Diagnosis", "Examined", "Finding", "diagnose"]
