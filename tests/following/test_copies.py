"""What a note says of the copies of a sentence, whatever way their dates are written."""

from __future__ import annotations

import pytest

from esr.following.copies import describe_copies
from esr.index.copies import Appearance, CopyGroup


@pytest.mark.parametrize("same_moment", ["2024-03-03", "2024-03-03T00:00:00Z", "2024-03-03T01:00:00+01:00"])
def test_of_several_copies_of_the_earliest_moment_none_is_first(same_moment: str) -> None:
    dates = {"wire": "2024-03-03", "post": same_moment, "news": "2024-03-04"}
    group = CopyGroup(tuple(Appearance(f"{d}.s0", d, 0, date, d.title()) for d, date in dates.items()))
    assert describe_copies("news.s0", group).text == "also in 2 sources, first on 3 March 2024"


def test_the_earliest_moment_is_first() -> None:
    dates = {"wire": "2024-03-03", "post": "2024-03-03T00:00:01Z", "news": None}
    group = CopyGroup(tuple(Appearance(f"{d}.s0", d, 0, date, d.title()) for d, date in dates.items()))
    assert describe_copies("news.s0", group).text == "also in 2 sources, first in Wire on 3 March 2024"
