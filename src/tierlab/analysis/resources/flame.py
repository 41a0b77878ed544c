"""Call stacks laid together: the tree of a flame graph (B. Gregg, "The Flame Graph", CACM 2016)."""

from dataclasses import dataclass, field

from tierlab.analysis.query import IN_SPAN, Connection, bounds, rows
from tierlab.analysis.resources.event_rates import IDLE
from tierlab.analysis.span import Span
from tierlab.tables.profile import WHOLE

LEAST = 0.002
"""A node with a smaller share of all is too narrow to be seen: it stays its parent's own."""
DEEPEST = 100


@dataclass
class Node:
    """A function, called by its parent: events in it and in all that it called."""

    name: str
    count: int = 0
    children: dict[str, "Node"] = field(default_factory=dict)

    def under(self, name: str) -> "Node":
        """The child of that name."""
        return self.children.setdefault(name, Node(name))


def flame(db: Connection, span: Span, event: str, source: str) -> Node | None:
    """Return the tree of an event: below its root the domains, below these their stacks, pruned;
    None where no stack was recorded.
    """
    found = rows(
        db,
        f"""SELECT domain, frames, coalesce(symbol, '[unknown]') AS symbol,
                sum(count)::BIGINT AS count
            FROM counters LEFT JOIN stacks USING (stack)
            WHERE event = $event AND source = $source AND t_ns {IN_SPAN} AND domain <> '{IDLE}'
                AND NOT {WHOLE}
            GROUP BY ALL""",
        {**bounds(span), "event": event, "source": source},
    )
    if all(row["frames"] is None for row in found):
        return None
    root = Node(event)
    for row in found:
        frames = row["frames"] or [row["symbol"]]
        node = root
        node.count += row["count"]
        for name in (row["domain"], *frames[:DEEPEST]):
            node = node.under(name)
            node.count += row["count"]
    _prune(root, root.count * LEAST)
    return root


def _prune(node: Node, least: float) -> None:
    node.children = {name: each for name, each in node.children.items() if each.count >= least}
    for each in node.children.values():
        _prune(each, least)
