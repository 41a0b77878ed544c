"""The picture of many tiers: wider than a page, and every box has room for what is in it."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tierlab.report.page import render
from tierlab.report.picture import WIDTH, picture


def of_tiers(made, count):
    """The made run's summary with so many tiers."""
    first = made.summary.servers[0]
    servers = [
        first.model_copy(update={"name": f"tier{n}.1", "tier": f"tier{n}"}) for n in range(count)
    ]
    return made.summary.model_copy(update={"servers": servers, "time": None})


@pytest.mark.parametrize("count", [1, 5, 6, 7, 15, 40])
def test_boxes_of_many_tiers_neither_overlap_nor_shrink(made, count):
    """From seven tiers on they overlapped, and from fifteen on their widths were negative."""
    drawn = picture(of_tiers(made, count))
    assert len(drawn.boxes) == count
    assert all(box.width >= 150 for box in drawn.boxes)
    boxes = sorted(drawn.boxes, key=lambda box: box.x)
    assert all(one.x + one.width < other.x for one, other in pairwise(boxes))
    assert boxes[-1].x + boxes[-1].width < drawn.width


@pytest.mark.parametrize(("count", "scrolls"), [(5, False), (15, True)])
def test_a_picture_wider_than_a_page_scrolls(made, count, scrolls):
    summary = of_tiers(made, count)
    drawn = picture(summary)
    assert (drawn.width > WIDTH) == scrolls
    html = render(summary, made.diagnosis, made.manifest, None)
    assert (f"min-width: {drawn.width}px" in html) == scrolls
