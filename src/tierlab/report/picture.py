"""The picture of the tiers: who calls whom, where the time goes, what waits and what works."""

from dataclasses import dataclass

from tierlab.analysis.servers import Server
from tierlab.analysis.summary import Summary
from tierlab.report.colours import tier_colours
from tierlab.report.figures import count, number, seconds, share

WIDTH, USERS, GAP, MARGIN = 1160, 128, 48, 8
LEAST_BOX = 155
"""A narrower box has no room for its lines: five tiers fit, of more the picture is wider."""
TOP, HEAD, ROW = 8, 92, 84


@dataclass(frozen=True)
class ServerRow:
    """A server in its tier's box: its name, visits per second, and the figures under them."""

    name: str
    rate: str
    y: int
    lines: tuple[str, ...]


@dataclass(frozen=True)
class TierBox:
    """A tier: where its box stands and what is written in it."""

    name: str
    software: str
    colour: str
    x: int
    top: int
    width: int
    height: int
    share: str
    fill: int
    own: list[str]
    rate: str
    rows: list[ServerRow]


@dataclass(frozen=True)
class UsersBox:
    """The users of a system, left of the tiers that serve them: who they are and what is about
    them.
    """

    top: int
    name: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Picture:
    """Everything that the drawing needs, in its own units; ``words`` say it without eyes."""

    width: int
    height: int
    users: list[UsersBox]
    boxes: list[TierBox]
    words: str

    @property
    def style(self) -> str:
        """What the page's style needs besides, so that a wide one scrolls and is not shrunk; on
        paper it is. Empty for one that fits.
        """
        wide = f".tiers svg {{ min-width: {self.width}px; }}"
        return f"@media screen {{ {wide} }}\n" if self.width > WIDTH else ""


def picture(summary: Summary) -> Picture | None:
    """Lay the tiers out from left to right, of several systems one below the other; None when there
    is no server to show.
    """
    servers: dict[str, list[Server]] = {tier: [] for tier in tier_colours(summary)}
    for server in summary.servers:
        servers[server.tier].append(server)
    if not servers:
        return None
    rows = _rows(summary, list(servers))
    most = max(map(len, rows.values()))
    width = max(LEAST_BOX, (WIDTH - USERS - 2 * MARGIN - GAP * most) // most)
    lefts = [MARGIN + USERS + GAP + at * (width + GAP) for at in range(most)]
    users, boxes, top = [], [], TOP
    for system, tiers in rows.items():
        row = [
            _box(summary, tier, servers[tier], (left, top, width))
            for tier, left in zip(tiers, lefts, strict=False)
        ]
        users.append(_users(summary, system, top))
        boxes += row
        top += max(box.height for box in row) + TOP
    return Picture(
        width=max(WIDTH, lefts[-1] + width + MARGIN),
        height=top,
        users=users,
        boxes=boxes,
        words="; ".join(_words(box) for box in boxes),
    )


def _rows(summary: Summary, tiers: list[str]) -> dict[str, list[str]]:
    """The tiers of each of several systems; of the only one, without a name."""
    rows = {
        each.name: [tier for tier in tiers if tier.startswith(f"{each.name}.")]
        for each in summary.systems
    }
    return {name: own for name, own in rows.items() if own} or {"": tiers}


def _users(summary: Summary, system: str, top: int) -> UsersBox:
    of = next((each for each in summary.systems if each.name == system), summary.facts)
    most = "" if of.shape is None else "up to "
    name = f"{most}{count(of.users)} users" if of.users is not None else "open load"
    if system:
        return UsersBox(top, name, (f"of {system}",))
    left = summary.time.remainder_share if summary.time is not None else None
    lines = () if left is None else (f"{share(left)} in network,", "queues and driver")
    return UsersBox(top, name, lines)


def _box(
    summary: Summary, tier: str, servers: list[Server], where: tuple[int, int, int]
) -> TierBox:
    """``where`` is its left edge, its top and its width."""
    x, top, width = where
    times = summary.time.tiers if summary.time is not None else []
    time = next((each for each in times if each.tier == tier), None)
    rates = [each.rate for each in servers if each.rate is not None]
    software = sorted({each.software for each in servers if each.software})
    return TierBox(
        name=_short(tier, 12),
        software=_short(", ".join(software), 22),
        colour=tier_colours(summary)[tier],
        x=x,
        top=top,
        width=width,
        height=HEAD + ROW * len(servers),
        share=share(time.share) if time is not None else _no_share(servers),
        fill=round(max(0.0, min(1.0, time.share)) * (width - 24)) if time is not None else 0,
        own=["of the time", f"{seconds(time.per_visit_s)} own"] if time is not None else [],
        rate=_rate(sum(rates) if rates else None),
        rows=[
            ServerRow(_short(each.name, 18), _rate(each.rate), HEAD + ROW * index, _lines(each))
            for index, each in enumerate(servers)
        ],
    )


def _no_share(servers: list[Server]) -> str:
    """Say why a tier has no share of the time."""
    if any(each.unfinished for each in servers):
        return "no visit ended"
    return "not traced" if servers[0].visits is None else "no visits"


def _lines(server: Server) -> tuple[str, ...]:
    stay = "visits not traced" if server.visits is None else "no visits"
    if server.unfinished:
        stay = "no visit ended"
    if server.time is not None:
        stay = f"visit {seconds(server.time.mean_s)}, p99 {seconds(server.time.p99_s)}"
    queue = "queue not traced"
    if server.queue is not None:
        queue = f"queue {number(server.queue.mean)}, peak {number(server.queue.peak)}"
    load = "CPU not measured"
    if server.cpu is not None:
        load = f"CPU {number(server.cpu.mean)} cores, peak {number(server.cpu.peak)}"
    return stay, queue, load


def _rate(value: float | None) -> str:
    return f"{number(value)}/s" if value is not None else ""


def _words(box: TierBox) -> str:
    rows = ", ".join(f"{row.name}: {', '.join(row.lines)}" for row in box.rows)
    return f"{box.name} {box.share} {', '.join(box.own)} ({rows})"


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
