"""The measures by the names that the published tables use."""

from __future__ import annotations

from typing import Final

from tierlab.studies import (
    by_instances,
    by_load,
    caches,
    environments,
    load,
    mappings,
    parallel,
    queues,
    slow_clusters,
    stalls,
    two_parts,
)
from tierlab.studies.measured import CaseMeasure, Measure

MEASURES: Final[dict[str, Measure]] = {
    "highest mean cpu": load.HIGHEST_MEAN_CPU,
    "clusters": slow_clusters.CLUSTERS,
    "clustered requests": slow_clusters.GROUPED,
    "highest peak": slow_clusters.HIGHEST_PEAK,
    "outside clusters": slow_clusters.OUTSIDE,
    "queues in all tiers": queues.ALL_TIERS,
    "waves from database": queues.FROM_DATABASE,
    "dropped connections": queues.DROPPED,
    "iowait length": stalls.IOWAIT_LENGTH,
    "pressure length": stalls.PRESSURE_LENGTH,
    "saturation in clusters": stalls.COINCIDE,
    "faults with saturation": stalls.FAULTS_WITH_STALLS,
    "fault burst": stalls.BURST,
    "root cause": stalls.ROOT_CAUSE,
    "response time modes": two_parts.PEAKS,
    "last bucket": two_parts.LAST_BUCKET,
    "modes of the run": two_parts.MODES_OF_RUN,
    "congested first": two_parts.CONGESTED_FIRST,
    "very long when congested": two_parts.VERY_LONG_CONGESTED,
    "iowait congested": two_parts.IOWAIT_CONGESTED,
    "iowait normal": two_parts.IOWAIT_NORMAL,
    "faults with iowait": two_parts.FAULTS_WITH_IOWAIT,
    "faults congested": two_parts.FAULTS_CONGESTED,
}
"""Of one run."""

OVER_CASES: Final[dict[str, CaseMeasure]] = {
    "instability follows dnu": mappings.INSTABILITY_FOLLOWS_DNU,
    "uneven less stable": mappings.UNEVEN_LESS_STABLE,
    "highest mmr uniform": mappings.UNIFORM_MMR,
    "highest mmr uneven": mappings.UNEVEN_MMR,
    "times follow dnu": mappings.TIMES_FOLLOW_DNU,
    "uneven times less stable": mappings.UNEVEN_TIMES_LESS_STABLE,
    "highest time mmr uniform": mappings.UNIFORM_TIMES_MMR,
    "highest time mmr uneven": mappings.UNEVEN_TIMES_MMR,
    "unstable turns": mappings.UNSTABLE_TURNS,
    "heavier less stable": mappings.HEAVIER_LESS_STABLE,
    "least throughput": environments.ALIKE_THROUGHPUT,
    "container response": environments.CONTAINER_RESPONSE,
    "machine response": environments.MACHINE_RESPONSE,
    "container cpu": environments.CONTAINER_CPU,
    "machine cpu": environments.MACHINE_CPU,
    "machine response over base": environments.MACHINE_RESPONSE_OVER_BASE,
    "machine cpu in all": environments.MACHINE_CPU_IN_ALL,
    "throughput by load": by_load.THROUGHPUT_BY_LOAD,
    "container response by load": by_load.CONTAINER_RESPONSE_BY_LOAD,
    "response growth": by_load.RESPONSE_GROWTH,
    "container cpu by load": by_load.CONTAINER_CPU_BY_LOAD,
    "cpu by load": by_load.CPU_BY_LOAD,
    "database cpu": by_load.DATABASE_CPU,
    "two systems by load": by_instances.TWO_BY_LOAD,
    "four systems response": by_instances.LONGEST_OF_FOUR,
    "four systems over one": by_instances.FOUR_OVER_ONE,
    "four systems cpu": by_instances.USE_OF_FOUR,
    "more misses on two packages": caches.MORE_MISSES,
    "data-parallel lag": parallel.DATA_PARALLEL_LAG,
    "pipeline lag": parallel.PIPELINE_LAG,
    "barriers lag": parallel.BARRIERS_LAG,
    "many-locks lag": parallel.MANY_LOCKS_LAG,
}
"""Of all trials of a study."""
