"""Which trial was this?"""

from collections.abc import Mapping

from tierlab.analysis.result import Result
from tierlab.analysis.span import Span
from tierlab.tables.manifest import Manifest


class Facts(Result):
    """The trial in a line. ``users`` is of a closed loop, ``rate`` (requests/s) of an open one,
    ``speed`` of a log that is replayed so many times as fast.

    Where the load follows a ``shape``, they are its highest. The times are of the stretch that the
    figures cover.
    """

    experiment: str
    trial: str
    question: str | None
    environment: str
    workload: str
    created_ns: int
    users: int | None
    rate: float | None
    speed: float | None = None
    shape: str | None = None
    mix: str | None
    think_s: float | None
    state: str
    error: str | None
    start_ns: int | None
    end_ns: int | None
    duration_s: float | None


def facts(manifest: Manifest, span: Span | None) -> Facts:
    """Take the facts from the manifest; ``span`` is what the figures cover, if anything."""
    load = manifest.load
    loads = (load, *(part.load for part in manifest.systems.values()))
    # Several systems have it in common, or some of them have one.
    shape = next((found for each in loads if (found := shape_of(each)) is not None), None)
    users, think_ns = _number(load.get("users")), _number(load.get("think_ns"))
    return Facts(
        experiment=manifest.experiment,
        trial=manifest.trial,
        question=manifest.question,
        environment=manifest.environment,
        workload=manifest.workload,
        created_ns=manifest.created_ns,
        users=None if users is None else int(users),
        rate=_number(load.get("rate")),
        speed=_number(load.get("speed")),
        shape=shape,
        mix=str(load["mix"]) if load.get("mix") is not None else None,
        think_s=None if think_ns is None else think_ns / 1e9,
        state=manifest.exit.state,
        error=manifest.exit.error,
        start_ns=span.start_ns if span is not None else None,
        end_ns=span.end_ns if span is not None else None,
        duration_s=span.seconds if span is not None else None,
    )


def shape_of(load: Mapping[str, object]) -> str | None:
    """Return the kind of the shape that a load follows; None where it is constant."""
    shape = load.get("shape")
    return str(shape["kind"]) if isinstance(shape, Mapping) and "kind" in shape else None


def _number(value: object) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number else None  # type: ignore[arg-type]
