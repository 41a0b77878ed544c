"""The report: one HTML file that needs nothing else, on a screen or on paper."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from tierlab.analysis.queues.waits import PARTS
from tierlab.analysis.summary import Summary
from tierlab.diagnosis import Diagnosis
from tierlab.report import figures
from tierlab.report.against import Against
from tierlab.report.colours import server_styles, tier_colours
from tierlab.report.frame import environment, part, policy, scripts_of
from tierlab.report.panels import Panels
from tierlab.report.payload import charts, embed
from tierlab.report.picture import picture
from tierlab.report.slowest import Slowest
from tierlab.report.waits import NAMES, bars, none_measured
from tierlab.report.words import answer
from tierlab.tables.manifest import Manifest


def render(
    summary: Summary,
    diagnosis: Diagnosis,
    manifest: Manifest,
    panels: Panels | None,
    *,
    flames: Sequence[Mapping[str, Any]] = (),
    against: Against | None = None,
    slowest: Sequence[Slowest] = (),
) -> str:
    """Return the page, with these flame graphs, its profile ``against`` another run's. Every string
    from outside is escaped; the only scripts that may run are the page's own, named by their hashes
    in its content security policy, and it may load nothing.
    """
    scripts, drawn = scripts_of(panels), picture(summary)
    return (
        environment()
        .get_template("report.html.j2")
        .render(
            summary=summary,
            diagnosis=diagnosis,
            manifest=manifest,
            said=answer(summary),
            picture=drawn,
            waits=bars(summary),
            slowest_waits=bars(summary, "slowest"),
            no_waits=none_measured(summary),
            part_names=[(name, NAMES[name]) for name in PARTS],
            words_of=NAMES,
            panels=panels,
            against=against,
            slowest=slowest,
            flames={each["event"]: each["deep"] for each in flames},
            data=Markup(embed({**charts(panels), "flames": flames}))
            if panels is not None
            else None,
            styles=server_styles(summary),
            tier_colours=tier_colours(summary),
            style=Markup(part("style.css") + ("" if drawn is None else drawn.style)),
            scripts=[Markup(each) for each in scripts],
            policy=policy(scripts),
            configuration=list(flat(_configuration(manifest))),
            environment=list(flat(_surroundings(manifest))),
            plan=list(flat(manifest.plan)),
            agents=list(flat(manifest.observation.summaries)),
        )
    )


def flat(tree: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, str]]:
    """Walk nested settings and give (dotted key, value) pairs in order."""
    for key, value in tree.items():
        name = f"{path}.{key}" if path else str(key)
        if isinstance(value, Mapping):
            yield from flat(value, name)
        elif value is not None and value != []:
            yield name.removesuffix("_ns"), _written(key, value)


def _written(key: object, value: object) -> str:
    if str(key).endswith("_ns") and isinstance(value, int):
        return figures.seconds(value / 1e9)
    if isinstance(value, list):
        return "; ".join(_item(each) for each in value)
    return str(value)


def _item(value: object) -> str:
    if isinstance(value, Mapping):
        return " ".join(f"{key} {_item(each)}" for key, each in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _configuration(manifest: Manifest) -> dict[str, Any]:
    return {
        "factors": manifest.factors,
        "load": manifest.load,
        "seeds": manifest.seeds,
        "mapping": manifest.mapping,
    }


def _surroundings(manifest: Manifest) -> dict[str, Any]:
    return {"host": manifest.host, "versions": manifest.versions}
