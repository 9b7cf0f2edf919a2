"""A closed searcher says that it is closed, on both engines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from esr.errors import IndexClosed
from esr.index.filters import NO_FILTERS
from esr.plans.condition import HasTerm
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher
from tests.support.both_engines import ENGINES, open_loaded
from tests.support.folder_index import document

CALLS: dict[str, Callable[[Searcher], Any]] = {
    "search": lambda searcher: searcher.search("storm"),
    "search of a snapshot": lambda searcher: searcher.snapshot().search("storm"),
    "prepare": lambda searcher: searcher.prepare("storm", Ranking()),
    "check_ready": lambda searcher: searcher.index.check_ready(),
    "count": lambda searcher: searcher.index.count([HasTerm("storm")], NO_FILTERS),
    "document": lambda searcher: searcher.index.document("a"),
    "documents": lambda searcher: list(searcher.index.documents()),
    "sentences": lambda searcher: searcher.index.sentences(["a.s0"]),
    "status": lambda searcher: searcher.index.status(),
    "values": lambda searcher: searcher.index.values("section"),
}


@pytest.fixture(params=ENGINES)
def searcher(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Searcher]:
    documents = [document("a", "A storm came."), document("b", "The storm went.")]
    with open_loaded(request, tmp_path, [located.document for located in documents]) as searcher:
        yield searcher


@pytest.mark.parametrize("was_used", [False, True], ids=["at once", "after a search"])
def test_a_closed_searcher_says_that_it_is_closed(searcher: Searcher, was_used: bool) -> None:
    if was_used:
        assert searcher.search("storm").total == 2
    with searcher:
        pass
    for name, call in CALLS.items():
        with pytest.raises(IndexClosed) as error:
            call(searcher)
            pytest.fail(name)
        message = f"the index {searcher.index.where} is closed: open it again with esr.open"
        assert str(error.value) == message, name
    searcher.close()


def test_what_was_prepared_before_says_so_too(searcher: Searcher) -> None:
    prepared, snapshot = searcher.prepare("storm", Ranking()), searcher.snapshot()
    searcher.close()
    for call in (prepared.search, lambda: snapshot.search("storm")):
        with pytest.raises(IndexClosed, match="is closed: open it again"):
            call()


def test_what_was_found_stays_readable(searcher: Searcher) -> None:
    answer, ids = searcher.search("storm"), searcher.search("storm", records=False)
    searcher.close()
    assert {hit.record.text for hit in answer.hits if hit.record} == {"A storm came.", "The storm went."}
    assert sorted(hit.sentence_id for hit in ids.hits) == ["a.s0", "b.s0"]


def test_a_snapshot_that_is_closed_leaves_its_searcher_open(searcher: Searcher) -> None:
    with searcher.snapshot() as snapshot:
        assert snapshot.search("storm").total == 2
    with searcher.snapshot() as snapshot:
        assert snapshot.search("storm").total == 2
    assert searcher.search("storm").total == 2
