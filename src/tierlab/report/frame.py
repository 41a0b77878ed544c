"""What every page is made of: scripts, the policy that lets nothing else run, and filters."""

import base64
import hashlib
import math
from datetime import UTC, datetime
from functools import cache
from importlib import resources

from jinja2 import Environment, PackageLoader, StrictUndefined

from tierlab.analysis.requests.histogram import Bucket
from tierlab.report import figures
from tierlab.report.diagnosis import at_work, cause_name, certainty, heading, rarity
from tierlab.report.differences import interval, value
from tierlab.report.panels import Panels
from tierlab.report.profile import amount, binary_name, difference_figures
from tierlab.report.profile import heading as profile_heading


def scripts_of(panels: Panels | None) -> list[str]:
    """Return the scripts that draw the panels; none where there are none."""
    return [_plotly(), part("report.js")] if panels is not None and panels.panels else []


def policy(scripts: list[str]) -> str:
    """Return the content security policy: these scripts, named by their hashes, and nothing from
    elsewhere.
    """
    hashes = [base64.b64encode(hashlib.sha256(each.encode()).digest()).decode() for each in scripts]
    allowed = " ".join(f"'sha256-{each}'" for each in hashes) or "'none'"
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; "
        "img-src data:; font-src data:; base-uri 'none'; form-action 'none'"
    )


@cache
def _plotly() -> str:
    """Return Plotly's script as its Python package carries it."""
    bundle = resources.files("plotly") / "package_data" / "plotly.min.js"
    return bundle.read_text(encoding="utf-8").replace("</script", "<\\/script")


def part(name: str) -> str:
    """Return a file of the templates' folder."""
    return (resources.files(__package__) / "templates" / name).read_text(encoding="utf-8")


def _log_bar(count: int, histogram: list[Bucket]) -> float:
    """Return a bar's length in percent: the longest is 100, one request is still seen."""
    most = math.log1p(max(each.count for each in histogram))
    return round(100 * math.log1p(count) / most, 2)


def _soft(value: int, name: str) -> str:
    """Write a soft resource: a count, or a time or a size when its name says so."""
    if name.endswith("timeout"):
        return figures.seconds(value / 1e9)
    is_size = name == "buffer_pool" or name.endswith("memory")
    return figures.amount(value, "B") if is_size else figures.count(value)


def _seen(support: float | None) -> str:
    """Say whether a cause's sign was seen."""
    if support is None:
        return "not measured"
    return "yes" if support >= 0.5 else "no"


def _instant(time_ns: int) -> str:
    return datetime.fromtimestamp(time_ns / 1e9, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


@cache
def environment() -> Environment:
    """Return the templates, which escape every string and know our ways to write figures."""
    made = Environment(
        loader=PackageLoader("tierlab.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "number": figures.number,
        "count": figures.count,
        "seconds": figures.seconds,
        "share": figures.share,
        "amount": figures.amount,
        "instant": _instant,
        "soft": _soft,
        "logbar": _log_bar,
        "cause_name": cause_name,
        "heading": heading,
        "certainty": certainty,
        "at_work": at_work,
        "rarity": rarity,
        "seen": _seen,
        "interval": interval,
        "valued": value,
        "binary_name": binary_name,
        "profile_heading": profile_heading,
        "difference_figures": difference_figures,
        "sampled": lambda each: amount(each.samples, each.count),
    }
    return made
