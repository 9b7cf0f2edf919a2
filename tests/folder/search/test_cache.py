"""What searches keep goes with a commit of enrichment, unless it depends on layers."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import esr
from esr.enrichment.recipe import Recipe
from esr.folder.index import EmbeddedIndex
from esr.folder.search.kernel_loader import LOADER
from esr.index.filters import Filters
from esr.plans.condition import HasTerm, HasWords
from esr.plans.plan import Plan, Static
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import open_searcher
from esr.text.document import ParseWord, Sentence, SentenceEnrichment
from tests.support.folder_index import document, load
from tests.support.pruning import make_plan

RECIPE = Recipe(("features",), {"model": "none"})
STATICS = (Static("features.x", "linear"), Static("importance", "linear"))


@pytest.fixture
def index(where: Path) -> EmbeddedIndex:
    first = Sentence("a.s0", "flood", {"x": 1.0}, (ParseWord("flood", -1),))
    load(where, [document("a", first), document("b", "flood bank", "bank")])
    return EmbeddedIndex(str(where))


def enrich(index: EmbeddedIndex, value: float) -> None:
    with index.enrichment() as enrichment:
        enrichment.store(RECIPE, [("a", [SentenceEnrichment({"x": value}, None, None)])])


def plan(index: EmbeddedIndex) -> Plan:
    return make_plan(index, "flood", Ranking())


def test_enrichment_takes_over_what_texts_give_and_drops_what_features_give(index: EmbeddedIndex) -> None:
    before = index.cache
    impacts, tables = before.impacts.get(plan(index).transform), before.kernel_tables
    entry = before.snapshot.statistics.find("flood")
    assert before.statics.bounds(STATICS[:1]).greatest == 1.0
    assert before.statics.scores(STATICS[:1]).tolist() == [1.0, 0.0, 0.0]
    enrich(index, 5.0)
    after = index.cache
    assert after is not before
    assert after.snapshot.statistics is before.snapshot.statistics
    assert after.snapshot.statistics.find("flood") is entry
    assert after.impacts.get(plan(index).transform) is impacts
    assert after.kernel_tables is tables
    assert after.statics.bounds(STATICS[:1]).greatest == 5.0
    assert after.statics.scores(STATICS[:1]).tolist() == [5.0, 0.0, 0.0]
    assert before.statics.bounds(STATICS[:1]).greatest == 1.0


def test_other_segments_begin_anew(index: EmbeddedIndex, where: Path) -> None:
    before = index.cache
    impacts, tables = before.impacts.get(plan(index).transform), before.kernel_tables
    load(where, [document("c", "flood")], if_exists="append")
    after = index.cache
    assert after.snapshot.statistics.find("flood").statistics.sf == 3
    assert before.snapshot.statistics.find("flood").statistics.sf == 2
    assert after.impacts.get(plan(index).transform) is not impacts
    assert after.kernel_tables is not tables and len(after.kernel_tables.commit.sizes) == 3


def test_statistics_hold_no_layer(index: EmbeddedIndex) -> None:
    enrich(index, 5.0)
    snapshot = index.cache.snapshot
    assert [segment.enrichment.features for segment in snapshot.segments] == [["x"]]
    assert [segment.enrichment.features for segment in snapshot.statistics.segments] == [[]]


def test_keys_of_metadata_that_are_typed_do_not_fill_the_memory(where: Path) -> None:
    load(where, [document("a", metadata={"desk": "Berlin"})])
    cache = EmbeddedIndex(str(where)).cache
    tables = {id(cache.values(f"meta.{key}")) for key in ("desk", "DESK", "Desk", *map(str, range(50)))}
    assert len(tables) == 2


def test_a_pinned_index_stays_at_its_commit(index: EmbeddedIndex, where: Path) -> None:
    pinned = index.snapshot()
    load(where, [document("c", "flood")], if_exists="append")
    enrich(index, 5.0)
    assert index.search(plan(index), 9, Filters()).total == 4
    assert pinned.search(plan(index), 9, Filters()).total == 3
    assert pinned.snapshot().cache is pinned.cache
    assert pinned.where == index.where and pinned.analyzer is index.analyzer


def search(where: str, query: str, **ranking: Any) -> esr.ranking.searcher.Searcher:
    searcher = open_searcher(where)
    searcher.search(esr.parse_query(query), **ranking)
    return searcher


def facets(where: str) -> esr.ranking.searcher.Searcher:
    searcher = open_searcher(where)
    index = searcher.index
    plan = searcher.prepare("flood", Ranking()).plan
    index.facets(plan, {"source": Filters()}, 5)
    index.count_days([None], Filters())
    return searcher


def spelling(where: str) -> esr.ranking.searcher.Searcher:
    searcher = open_searcher(where)
    searcher.index.similar_words("flod", 2, 1)
    searcher.index.written_forms(["flood"])
    searcher.index.count([HasTerm("flood"), HasWords(("bank",))], Filters())
    return searcher


FEATURES = [{"feature": "x", "form": "linear", "w": 1.0}]
USES: dict[str, Callable[[str], esr.ranking.searcher.Searcher]] = {
    "words": lambda where: search(where, "flood bank"),
    "a condition": lambda where: search(where, '+flood "flood bank" -river'),
    "a prior and a feature": lambda where: search(
        where, "flood", priors={"importance": 1.0}, features=FEATURES
    ),
    "a second stage": lambda where: search(where, "flood", rerank=[{"signal": "sdm"}]),
    "facets": facets,
    "a misspelt word": spelling,
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_an_index_that_is_not_used_any_more_closes_its_files_at_once(
    index: EmbeddedIndex, use: Callable[[str], esr.ranking.searcher.Searcher]
) -> None:
    """A garbage collector that comes late would leave thousands of files open."""
    LOADER.load()
    gc.collect()
    gc.disable()
    try:
        searcher = use(index.where)
        snapshot = searcher.index.cache.snapshot  # type: ignore[attr-defined]
        parts = [weakref.ref(snapshot), weakref.ref(snapshot.statistics)]
        searcher.close()
        del searcher, snapshot
        assert [part() for part in parts] == [None, None]
    finally:
        gc.enable()
