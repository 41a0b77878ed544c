"""On which CPUs may each server run?"""

from collections.abc import Sequence

from tierlab.analysis.resources.saturation import allowed_pus
from tierlab.tables.manifest import Manifest


def cores(manifest: Manifest, server: str, sampled: Sequence[str]) -> tuple[str, ...]:
    """Return those of the sampled CPUs (``cpu0`` ...); all where its place was not read back, or is
    on another machine, which is emulated on these.
    """
    pus = None if manifest.emulated_pus is not None else allowed_pus(manifest, server)
    mine = [name for name in sampled if pus and name in {f"cpu{each}" for each in pus}]
    return tuple(mine or sampled)
