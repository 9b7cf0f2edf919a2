"""Which lines a concordance has, and in which order."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from esr.corpus.concordance import LineOptions, build_concordance
from esr.index.filters import NO_FILTERS
from esr.query import parse
from esr.ranking.searcher import Searcher, open_searcher
from tests.support.elasticsearch import document, load

TEXTS = {
    "2017-03-01": "Alpha of late flood water rose here again.",
    "2017-03-02": "Zebra of late flood water rose here today.",
    "2017-03-03": "Beta of late flood water fell.",
}


@pytest.fixture
def searcher(tmp_path: Path) -> Iterator[Searcher]:
    load(str(tmp_path / "index"), [document(day, text, date=day) for day, text in TEXTS.items()])
    with open_searcher(str(tmp_path / "index")) as opened:
        yield opened


def lefts(searcher: Searcher, options: LineOptions) -> list[str]:
    lines = build_concordance(searcher, parse("flood"), NO_FILTERS, options).lines
    return [line.left.split()[0] for line in lines]


def test_lines_begin_with_the_newest_unless_some_are_skipped(searcher: Searcher) -> None:
    assert lefts(searcher, LineOptions()) == ["Beta", "Zebra", "Alpha"]
    assert lefts(searcher, LineOptions(offset=1)) == ["Zebra", "Alpha"]
    assert lefts(searcher, LineOptions(sort="oldest", k=2)) == ["Alpha", "Zebra"]


def test_words_beyond_the_third_do_not_order_lines(searcher: Searcher) -> None:
    assert lefts(searcher, LineOptions(sort="left2")) == ["Alpha", "Beta", "Zebra"]
    for sort in ("right1", "right2"):
        assert lefts(searcher, LineOptions(sort=sort)) == ["Beta", "Zebra", "Alpha"], sort
