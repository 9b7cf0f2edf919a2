"""The tour: docs/tour.md shows the pictures that the script takes, in their order, and none is large."""

from __future__ import annotations

import re
from pathlib import Path

from tools.tour import MOST_BYTES, STEPS

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_page_shows_the_pictures_of_the_steps_in_their_order() -> None:
    pictures = re.findall(r"!\[.+\]\(pictures/tour/(.+)\.webp\)", (DOCS / "tour.md").read_text("utf-8"))
    assert pictures == [step.name for step in STEPS]


def test_each_picture_is_there_and_small() -> None:
    sizes = {file.stem: file.stat().st_size for file in (DOCS / "pictures" / "tour").glob("*.webp")}
    assert {*sizes} == {step.name for step in STEPS}
    assert 10_000 < min(sizes.values()) <= max(sizes.values()) <= MOST_BYTES
