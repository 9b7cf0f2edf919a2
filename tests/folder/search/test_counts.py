"""Counts by the kernel are those of the masks, which `test_conditions.py` holds to a plain scan."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from esr.folder.index import EmbeddedIndex
from esr.folder.search.candidates import count_masked
from esr.folder.search.counts import count_sentences
from esr.folder.search.kernel_loader import KERNEL
from esr.folder.write import segment_writer
from esr.index.filters import NO_FILTERS, Filters
from esr.index.questions import ByValue, EvidenceOf, Features
from esr.plans.plan import AllOf, AnyOf, Condition, HasPrefix, HasTerm, HasWords, Not
from esr.ranking.searcher import open_searcher
from esr.text.dates import parse_date_end, parse_date_start
from esr.text.document import Sentence
from tests.support.folder_index import document, load
from tests.support.runs import need

WORDS = [f"w{n}" for n in range(12)]


@pytest.fixture
def kernel() -> Any:
    return need(KERNEL)


@pytest.fixture(scope="module", params=[1, 3])
def index(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[EmbeddedIndex]:
    """Words from frequent to rare, in one segment and in several."""
    rng, where = random.Random(1), tmp_path_factory.mktemp("counting") / "index"

    def sentence() -> str:
        return " ".join(WORDS[min(int(rng.paretovariate(0.5)) - 1, len(WORDS) - 1)] for _ in range(6))

    documents = [
        document(f"d{n}", *(sentence() for _ in range(rng.randrange(1, 9))), source=f"s{n % 3}")
        for n in range(60)
    ]
    with pytest.MonkeyPatch.context() as patch:
        if request.param > 1:
            patch.setattr(segment_writer, "FULL_TERMS", 400)
        load(where, documents)
    opened = EmbeddedIndex(str(where))
    assert (len(opened.cache.snapshot.segments) > 1) == (request.param > 1)
    yield opened


def random_condition(rng: random.Random, depth: int = 2) -> Condition:
    if depth and rng.random() < 0.6:
        parts = tuple(random_condition(rng, depth - 1) for _ in range(rng.randrange(1, 5)))
        return rng.choice([AllOf, AnyOf])(parts)
    word = rng.choice([*WORDS, "unseen"])
    leaves = [HasWords((word,)), HasWords((word, rng.choice(WORDS))), HasPrefix("w1"), Not(HasTerm(word))]
    return rng.choice([HasTerm(word)] * 5 + leaves)


@pytest.mark.parametrize("filters", [NO_FILTERS, Filters(sources=("s1",)), Filters(sources=("none",))])
def test_any_condition_is_counted_as_its_mask_is(index: EmbeddedIndex, kernel: Any, filters: Filters) -> None:
    rng, cache = random.Random(2), index.cache
    conditions = [random_condition(rng) for _ in range(300)]
    conditions += [AnyOf(tuple(map(HasTerm, WORDS))), AllOf((HasTerm("w0"), HasTerm("w1")))]
    counts = count_sentences(kernel, conditions, cache, filters)
    assert counts == [count_masked(condition, cache, filters) for condition in conditions]
    assert len(set(counts)) > 20 or filters.sources == ("none",)
    # The marks of a search are left as they came.
    assert count_sentences(kernel, conditions, cache, filters) == counts


def test_an_index_without_sentences_has_none(tmp_path: Path, kernel: Any) -> None:
    load(tmp_path / "index", [])
    cache = EmbeddedIndex(str(tmp_path / "index")).cache
    conditions = [HasTerm("a"), AnyOf((HasTerm("a"), HasTerm("b"))), HasWords(("a",)), HasPrefix("a")]
    for filters in (NO_FILTERS, Filters(sources=("s",))):
        assert count_sentences(kernel, conditions, cache, filters) == [0] * len(conditions)


def test_postings_are_counted_once_for_the_same_terms(index: EmbeddedIndex, kernel: Any) -> None:
    cache, calls = index.cache, []

    class Counting:
        def count_any(self, *args: Any) -> int:
            calls.append("any")
            return int(kernel.count_any(*args))

        def count_all(self, *args: Any) -> int:
            calls.append("all")
            return int(kernel.count_all(*args))

    def count(filters: Filters, *conditions: Condition) -> list[int]:
        return count_sentences(Counting(), conditions, cache, filters)

    cache.memory.__init__()  # type: ignore[misc]  # other tests have counted
    terms = HasTerm("w1"), HasTerm("w2")
    first = count(NO_FILTERS, AllOf(terms), AnyOf(terms))
    assert count(NO_FILTERS, AnyOf(terms[::-1]), AllOf(terms[::-1])) == first[::-1]
    assert calls == ["all", "any"]
    source = Filters(sources=("s1",))
    assert count(source, AllOf(terms), AnyOf(terms)) == [
        count_masked(condition(terms), cache, source) for condition in (AllOf, AnyOf)
    ]
    assert calls == ["all", "any"] * 2


NEWS = [
    document("jan", "storm", date="2017-01-31T23:59:59Z", source="a.org"),
    document("feb1", "storm", "calm", date="2017-02-01", source="b.org"),
    document("feb28", "storm", date="2017-02-28T23:59:59.999Z", source="b.org"),
    document("mar", "storm", date="2017-03-01T00:30:00+01:00", source="c.org"),
    document("april", "storm", date="2017-04"),
    document("undated", "storm", source="a.org"),
]


@pytest.fixture(params=["one segment", "several"])
def filtered_index(request: pytest.FixtureRequest, where: Path) -> str:
    if request.param == "several":
        request.getfixturevalue("small_segments")
    load(where, NEWS)
    return str(where)


def search_documents(index: str, filters: Filters, **settings: object) -> list[str]:
    with open_searcher(index) as searcher:
        hits = searcher.search("storm", 100, model="tfisf", filters=filters, **settings).hits
    return [hit.sentence_id.rpartition(".s")[0] for hit in hits]


def dates(first: str | None = None, last: str | None = None) -> Filters:
    return Filters(first and parse_date_start(first), last and parse_date_end(last))  # type: ignore[arg-type]


@pytest.mark.slow
def test_no_filter_lets_everything_through(filtered_index: str) -> None:
    assert search_documents(filtered_index, Filters()) == [located.document.id for located in NEWS]


@pytest.mark.slow
def test_a_month_reaches_from_its_first_to_its_last_moment(filtered_index: str) -> None:
    # 00:30 in Paris on the first of March is still February in UTC.
    assert search_documents(filtered_index, dates("2017-02", "2017-02")) == ["feb1", "feb28", "mar"]


@pytest.mark.slow
def test_each_end_alone_is_a_filter_and_undated_documents_pass_neither(filtered_index: str) -> None:
    assert search_documents(filtered_index, dates("2017-02")) == ["feb1", "feb28", "mar", "april"]
    assert search_documents(filtered_index, dates(None, "2017-01")) == ["jan"]
    assert search_documents(filtered_index, dates("2017", "2017")) == ["jan", "feb1", "feb28", "mar", "april"]


@pytest.mark.slow
def test_a_day_and_a_moment_are_ends_too(filtered_index: str) -> None:
    assert search_documents(filtered_index, dates("2017-02-28", "2017-02-28")) == ["feb28", "mar"]
    assert search_documents(filtered_index, dates("2017-02-28T23:59:59.999Z")) == ["feb28", "april"]


@pytest.mark.slow
def test_dates_before_1970_and_the_epoch_itself_are_dates(where: Path) -> None:
    load(where, [document("old", "storm", date="1944-06-06"), document("epoch", "storm", date="1970-01-01")])
    assert search_documents(str(where), dates("1940", "1969")) == ["old"]
    assert search_documents(str(where), dates("1970", "1970")) == ["epoch"]


@pytest.mark.slow
def test_sources_and_documents_are_alternatives_among_themselves(filtered_index: str) -> None:
    assert search_documents(filtered_index, Filters(sources=("a.org",))) == ["jan", "undated"]
    assert search_documents(filtered_index, Filters(sources=("a.org", "c.org", "nowhere"))) == [
        "jan",
        "mar",
        "undated",
    ]
    assert search_documents(filtered_index, Filters(documents=("april", "jan", "nothing"))) == [
        "jan",
        "april",
    ]


@pytest.mark.slow
def test_all_filters_hold_together(filtered_index: str) -> None:
    filters = Filters(parse_date_start("2017-02"), None, ("b.org",), ("feb1", "jan", "mar"))
    assert search_documents(filtered_index, filters) == ["feb1"]


@pytest.mark.slow
@pytest.mark.parametrize("candidates", ["matching", "context", "all"])
def test_every_candidate_rule_is_filtered(filtered_index: str, candidates: str) -> None:
    expected = ["feb1"] if candidates == "matching" else ["feb1", "feb1"]
    assert search_documents(filtered_index, Filters(documents=("feb1",)), candidates=candidates) == expected


@pytest.mark.slow
def test_filters_leave_the_statistics_and_so_the_scores_alone(filtered_index: str) -> None:
    with open_searcher(filtered_index) as searcher:
        unfiltered_scores = {hit.sentence_id: hit.score for hit in searcher.search("storm", 100).hits}
        few = searcher.search("storm", 100, filters=Filters(sources=("b.org",))).hits
    assert few and all(hit.score == unfiltered_scores[hit.sentence_id] for hit in few)


# Columns of features over several segments.


NAN = float("nan")


@pytest.fixture
def featured_index(where: Path, small_segments: None) -> EmbeddedIndex:
    """Three documents, each in a segment of its own; the last has no feature."""
    load(
        where,
        [
            document("a", Sentence("a.s0", "one", {"subj": 0.5}), Sentence("a.s1", "one two")),
            document("b", Sentence("b.s0", "one two three", {"subj": 2.0, "pos": 1.0})),
            document("c", "one two three four", "one", ""),
        ],
    )
    return EmbeddedIndex(str(where))


def test_evidence_is_in_the_order_of_the_ids(featured_index: EmbeddedIndex) -> None:
    ids = ["c.s1", "a.s1", "b.s0", "c.s0", "a.s0"]
    evidence = featured_index.read(
        ids, EvidenceOf(["two"], ["features.subj", "features.pos", "features.none", "position"])
    )
    assert evidence.lengths["sentence"].tolist() == [1, 2, 3, 4, 1]
    assert evidence.counts["sentence"].tolist() == [[0, 1, 1, 1, 0]]
    assert evidence.columns["position"].tolist() == [1, 1, 0, 0, 0]
    np.testing.assert_array_equal(evidence.columns["features.subj"], [NAN, NAN, 2, NAN, 0.5])
    np.testing.assert_array_equal(evidence.columns["features.pos"], [NAN, NAN, 1, NAN, NAN])
    assert np.isnan(evidence.columns["features.none"]).all()
    assert featured_index.read(ids, EvidenceOf(["two"])).columns.keys() == {
        "length",
        "importance",
        "importance_surrounding",
    }


def test_a_histogram_counts_the_sentences_of_every_segment(featured_index: EmbeddedIndex) -> None:
    lengths, subjective = (
        featured_index.count([None], NO_FILTERS, ByValue("length"))[0],
        featured_index.count([None], NO_FILTERS, ByValue("features.subj"))[0],
    )
    assert dict(zip(lengths.values, lengths.counts, strict=True)) == {0: 1, 1: 2, 2: 1, 3: 1, 4: 1}
    assert (subjective.values.tolist(), subjective.counts.tolist()) == ([0.5, 2.0], [1, 1])
    assert len(featured_index.count([None], NO_FILTERS, ByValue("features.none"))[0].values) == 0
    assert featured_index.count([None], NO_FILTERS, ByValue("importance"))[0].counts.sum() == 6


def test_features_are_named_once(featured_index: EmbeddedIndex) -> None:
    assert featured_index.status(Features()) == ["pos", "subj"]
