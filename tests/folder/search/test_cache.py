"""What searches keep goes with a commit of enrichment, unless it depends on layers."""

from __future__ import annotations

import gc
import random
import tracemalloc
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import esr
from esr.enrichment.recipe import Recipe
from esr.errors import UsageError
from esr.folder.format.segment import Segment
from esr.folder.index import EmbeddedIndex
from esr.folder.search import records
from esr.folder.search.kernel_loader import LOADER
from esr.folder.search.records import DocumentCache
from esr.folder.write import segment_writer
from esr.index.filters import Filters
from esr.index.limits import DEFAULT_CACHE_LIMIT, VARIABLE, SearchMemory
from esr.index.questions import ByDay, ByField, Records, SimilarWords, WrittenForms
from esr.plans.plan import HasTerm, HasWords, Plan, StaticScore
from esr.query import parse
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import open_searcher
from esr.text.document import ParseWord, Sentence
from esr.text.sentence_enrichment import SentenceEnrichment
from tests.support.folder_index import document, load
from tests.support.processes import holds_in_threads
from tests.support.pruning import make_plan

pytestmark = pytest.mark.slow

RECIPE = Recipe(("features",), {"model": "none"})
STATIC_SCORES = (StaticScore("features.x", "linear"), StaticScore("importance", "linear"))


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
    assert before.static_scores.bounds(STATIC_SCORES[:1]).greatest == 1.0
    assert before.static_scores.scores(STATIC_SCORES[:1]).tolist() == [1.0, 0.0, 0.0]
    enrich(index, 5.0)
    after = index.cache
    assert after is not before
    assert after.snapshot.statistics is before.snapshot.statistics
    assert after.snapshot.statistics.find("flood") is entry
    assert after.impacts.get(plan(index).transform) is impacts
    assert after.kernel_tables is tables
    assert after.static_scores.bounds(STATIC_SCORES[:1]).greatest == 5.0
    assert after.static_scores.scores(STATIC_SCORES[:1]).tolist() == [5.0, 0.0, 0.0]
    assert before.static_scores.bounds(STATIC_SCORES[:1]).greatest == 1.0


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
    index.count([HasTerm("flood")], Filters(), ByField(["source"], 5))
    index.count([None], Filters(), ByDay())
    return searcher


def spelling(where: str) -> esr.ranking.searcher.Searcher:
    searcher = open_searcher(where)
    searcher.index.vocabulary(SimilarWords("flod", 2, 1))
    searcher.index.vocabulary(WrittenForms(["flood"]))
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


# Searches keep what they made, up to a limit for all of it together.


Numbers = npt.NDArray[np.int64]


def make(kilobytes: int) -> Numbers:
    return np.zeros(kilobytes * 128, np.int64)


@pytest.mark.slow
def test_what_was_not_used_for_longest_is_dropped_first() -> None:
    memory = SearchMemory(30_000)
    first, second, third = (memory.get(name, lambda: make(8)) for name in "abc")
    assert memory.get("a", lambda: make(8)) is first
    memory.get("d", lambda: make(8))  # there is room for three
    assert memory.get("a", lambda: make(8)) is first
    assert memory.get("b", lambda: make(8)) is not second
    assert memory.get("c", lambda: make(8)) is not third
    assert memory.used <= 30_000


@pytest.mark.slow
def test_a_value_that_grows_makes_room() -> None:
    memory = SearchMemory(100_000)
    memory.get("other", lambda: make(8))
    memory.get("grows", lambda: make(8))
    memory.resize("grows", 90_000)
    assert memory.used == 98_192 and len(memory) == 2
    memory.resize("grows", 95_000)
    assert memory.used == 95_000 and len(memory) == 1
    memory.resize("other", 1_000_000)  # which was dropped
    assert memory.used == 95_000


@pytest.mark.slow
def test_a_value_above_the_limit_is_alone() -> None:
    memory = SearchMemory(10_000)
    memory.get("small", lambda: make(4))
    large = memory.get("large", lambda: make(50))
    assert memory.get("large", lambda: make(50)) is large
    assert len(memory) == 1


@pytest.mark.slow
def test_many_small_values_count() -> None:
    memory = SearchMemory(250_000)
    for number in range(1000):
        memory.get(number, lambda: np.zeros(1))
    assert len(memory) < 300


@pytest.mark.slow
def test_threads_get_one_value_of_a_key() -> None:
    memory = SearchMemory(40_000)

    def get(seed: int) -> bool:
        key = random.Random(seed).randrange(8)
        return bool((memory.get(key, lambda: np.full(1000, key)) == key).all())

    assert holds_in_threads(get, range(2000))
    assert memory.used == sum(size for _, size in memory.entries.values()) <= 40_000


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    words = [f"w{n}" for n in range(40)]
    rng = random.Random(2)
    documents = []
    for n in range(3000):
        text = " ".join(rng.choices(words, k=12))
        documents.append(document(f"d{n}", Sentence(f"d{n}.s0", text, {"x": float(n % 7)}), text))
    load(tmp_path / "index", documents)
    return tmp_path / "index"


@pytest.mark.slow
def test_searches_of_every_kind_stay_within_the_limit_and_find_the_same(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Impacts of several models, features, conditions and phrases: everything that is kept."""
    queries = [parse(f'w{n} +w{n + 1} -w{n + 2} "w{n} w{n + 3}"') for n in range(12)]
    queries += [parse(f"w{n} w{n + 1}") for n in range(12)]
    rankings = [
        {"model": "2si", "context": "both"},
        {"model": "bm25"},
        {"model": "dir", "features": [{"feature": "x", "form": "linear", "w": 2}]},
        {"model": "jm", "params": {"lambda": 0.3}, "priors": {"length": 1.0}},
    ]

    def answers() -> list[list[tuple[str, float]]]:
        with open_searcher(str(folder)) as searcher:
            searcher.index.warm_up()
            found = [
                [(hit.sentence_id, hit.score) for hit in searcher.search(query, 5, **ranking).hits]
                for ranking in rankings
                for query in queries
            ]
            memory = searcher.index.cache.memory  # type: ignore[attr-defined]
            assert len(memory) and memory.used <= memory.limit
            return found

    assert DEFAULT_CACHE_LIMIT > 10_000_000
    usual = answers()
    monkeypatch.setattr("esr.index.limits.LEAST", 1)
    monkeypatch.setenv(VARIABLE, "60000")
    assert answers() == usual


@pytest.mark.slow
@pytest.mark.parametrize("text", ["", "much", "-5", "999999", "1e9"])
def test_a_limit_that_is_no_number_or_too_small_is_one_message(
    folder: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setenv(VARIABLE, text)
    with pytest.raises(UsageError, match=f"{VARIABLE} must be a whole number of bytes, at least 1,000,000"):
        open_searcher(str(folder))


# Documents that were shown stay unpacked, within the limit of what searches keep.


@pytest.fixture
def where_of_records(tmp_path: Path) -> Path:
    rng = random.Random(5)
    texts = ["".join(rng.choices("abcdefgh é", k=rng.randrange(20, 200))) for _ in range(3000)]
    load(tmp_path / "index", [document(f"d{n}", *texts[n * 10 : n * 10 + 10]) for n in range(300)])
    return tmp_path / "index"


def open_segments(where: Path) -> list[Segment]:
    return EmbeddedIndex(str(where)).cache.snapshot.segments


def test_a_document_is_unpacked_once(where_of_records: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    unpacked: list[int] = []
    read_shown = records.read_shown
    monkeypatch.setattr(records, "read_shown", lambda blobs: unpacked.append(len(blobs)) or read_shown(blobs))
    index = EmbeddedIndex(str(where_of_records))
    first = index.read(["d1.s0", "d1.s9", "d2.s3"], Records())
    assert unpacked == [2]
    assert index.read(["d1.s0", "d1.s9", "d2.s3"], Records()) == first
    assert unpacked == [2]
    index.read(["d3.s1", "d2.s3"], Records())
    assert unpacked == [2, 1]


def test_documents_of_several_segments_are_told_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segment_writer, "FULL_TERMS", 1)
    load(tmp_path / "index", [document(f"d{n}", f"text {n}") for n in range(5)])
    index = EmbeddedIndex(str(tmp_path / "index"))
    assert len(index.cache.snapshot.segments) > 1
    ids = [f"d{n}.s0" for n in range(5)]
    for _ in range(2):
        assert [record.text for record in index.read(ids, Records())] == [f"text {n}" for n in range(5)]


def test_what_a_load_replaces_is_read_anew(tmp_path: Path) -> None:
    load(tmp_path / "index", [document("d", "old", title="Old")])
    index = EmbeddedIndex(str(tmp_path / "index"))
    assert index.read(["d.s0"], Records())[0].text == "old"
    load(tmp_path / "index", [document("d", "new", title="New")], if_exists="replace")
    (record,) = index.read(["d.s0"], Records())
    assert (record.text, record.title) == ("new", "New")


def test_documents_count_as_much_as_they_take(where_of_records: Path) -> None:
    segments, memory = open_segments(where_of_records), SearchMemory(1 << 30)
    documents = DocumentCache(segments, memory)
    documents.read([(0, 0)])
    tracemalloc.start()
    documents.read([(0, number) for number in range(1, 300)])
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert 0.8 * taken < memory.used < 1.5 * taken


def test_threads_read_the_same_documents_within_the_limit(where_of_records: Path) -> None:
    segments, memory = open_segments(where_of_records), SearchMemory(100_000)
    documents = DocumentCache(segments, memory)

    def read(seed: int) -> bool:
        numbers = random.Random(seed).sample(range(300), 30)
        found = documents.read([(0, number) for number in numbers])
        return [found[(0, number)].id for number in numbers] == [f"d{n}" for n in numbers]

    assert holds_in_threads(read, range(300))
    assert memory.used == sum(size for _, size in memory.entries.values()) <= memory.limit


def test_hits_are_the_same_when_hardly_any_document_is_kept(
    where_of_records: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_searcher(str(where_of_records)) as searcher:
        hits = [searcher.search(query, 50).hits for query in "abcd" * 2]
    monkeypatch.setattr("esr.index.limits.LEAST", 1)
    monkeypatch.setenv("ESR_CACHE_BYTES", "5000")
    with open_searcher(str(where_of_records)) as searcher:
        assert [searcher.search(query, 50).hits for query in "abcd" * 2] == hits
