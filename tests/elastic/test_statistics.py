"""Statistics of terms equal those of the sentences for any frequency; statics stay within their bounds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from esr.cli import main
from esr.elastic import statistics
from esr.elastic.index import ElasticsearchIndex
from esr.elastic.requests import msearch_dfs
from esr.elastic.statistics import TermStatisticsReader, static_bounds
from esr.models.adjustment import fit_curve
from esr.plans.evaluate import score_static
from esr.plans.plan import CollectionStatistics, Curve, Static, TermStatistics
from tests.support.elasticsearch import counts_occurrences, document, fresh
from tests.support.elasticsearch import load as load_documents
from tests.support.elasticsearch_pruning import load
from tests.support.pruning import adverse_documents

NUMBERS = st.floats(-100.0, 100.0)


@st.composite
def curves(draw: st.DrawFn) -> Curve:
    """Curves of any slopes, which may turn between two of their values."""
    values = sorted(draw(st.sets(st.integers(-50, 50), min_size=1, max_size=5)))
    adds, slopes = (draw(st.tuples(*[NUMBERS] * len(values))) for _ in range(2))
    return Curve(tuple(map(float, values)), adds, slopes, draw(st.none() | NUMBERS))


def curve_bounds(curve: Curve, weight: float) -> tuple[Static, float, float]:
    static = Static("length", "curve", weight, curve=curve, required=True)
    low, high = static_bounds(static, CollectionStatistics(bounds={static: (-60.0, 60.0)}))
    return static, low, high


@given(curve=curves(), weight=st.sampled_from([-2.0, 1.0]))
def test_a_curve_of_any_slopes_stays_within_its_bounds(curve: Curve, weight: float) -> None:
    static, low, high = curve_bounds(curve, weight)
    added = score_static(static, np.linspace(-60.0, 60.0, 2001))
    assert low - 1e-6 <= added.min() and added.max() <= high + 1e-6


def test_the_bounds_of_an_estimated_curve_are_its_least_and_its_greatest_value() -> None:
    adds = [0.5, -1.0, 2.0, 2.0, 7.0]
    _, low, high = curve_bounds(fit_curve([0.0, 1.0, 3.0, 10.0, 11.0], adds), 1.0)
    assert (low, high) == pytest.approx((-1.0, 7.0))


REPEATING = [document(f"d{n}", "flood flood bank", "flood stone flood", "stone river") for n in range(10)]
EXACT = {
    "flood": TermStatistics(20, 10, 40),
    "stone": TermStatistics(20, 10, 20),
    "bank": TermStatistics(10, 10, 10),
    "river": TermStatistics(10, 10, 10),
    "unknown": TermStatistics(0, 0, 0),
}


@pytest.mark.elasticsearch
@pytest.mark.parametrize("shards", [1, 3])
def test_counts_of_any_size_are_exact(
    elasticsearch_url: str, monkeypatch: pytest.MonkeyPatch, shards: int
) -> None:
    """Scores have 32 bits, which do not hold all digits of a large number."""
    documents = adverse_documents(30)
    occurrences: Counter[str] = Counter()
    holders: Counter[str] = Counter()
    searches: list[int] = []

    def record(cluster: object, lines: list[object]) -> list[object]:
        searches.append(len(lines))
        return msearch_dfs(cluster, lines)  # type: ignore[arg-type]

    with fresh(elasticsearch_url) as where:
        load(where, documents, shards=shards)
        if not counts_occurrences(where):
            pytest.skip("this version of Elasticsearch gives sf in place of cf")
        monkeypatch.setattr(statistics, "msearch_dfs", record)
        with closing(ElasticsearchIndex(where)) as index:
            for located in documents:
                for sentence in located.document.sentences:
                    terms = index.analyzer.terms(sentence.text)
                    occurrences.update(terms)
                    holders.update(set(terms))
            terms = [*occurrences, "unknown"]
            for exact in (1 << 24, 64):
                monkeypatch.setattr(statistics, "_EXACT", exact)
                found = TermStatisticsReader(index.cluster).read(terms)
                assert {term: of_term.cf for term, of_term in found.items()} == {
                    term: occurrences[term] for term in terms
                }
                assert {term: of_term.sf for term, of_term in found.items()} == {
                    term: holders[term] for term in terms
                }
    assert max(occurrences.values()) > 300 and max(holders.values()) > 64
    assert searches == [3, 3], "no occurrences were summed over the hits"


@pytest.fixture(scope="module", params=[3, 1], ids=["3 shards", "3 indices"])
def spread(request: pytest.FixtureRequest, elasticsearch_url: str) -> Iterator[str]:
    """An index whose searches span several shards, of one index or of several."""
    with fresh(elasticsearch_url) as where:
        if request.param == 3:
            load_documents(where, REPEATING, shards=3)
        else:
            for start in (0, 3, 6):
                documents = REPEATING[start : start + 3] if start < 6 else REPEATING[start:]
                load_documents(where, documents, if_exists="append" if start else "fail")
        yield where


def count_searches(monkeypatch: pytest.MonkeyPatch, *, is_faulty: bool) -> list[int]:
    """How many searches each request for statistics has.

    `is_faulty`: answers are those of Elasticsearch before 9.4, whose cf over several shards is its sf.
    """
    searches: list[int] = []

    def answer(cluster: Any, lines: list[Any]) -> list[Any]:
        if "longest" not in lines[0][1].get(
            "aggs", ()
        ):  # statistics of the collection are no statistics of terms
            searches.append(len(lines))
        answers = msearch_dfs(cluster, lines)
        for hit in (hit for answer in answers for hit in answer["hits"]["hits"] if is_faulty):
            scores = hit.get("matched_queries", {})
            of_sf = {name.removeprefix("sf"): score for name, score in scores.items() if name[:2] == "sf"}
            scores |= {f"low{position}": score for position, score in of_sf.items()}
            scores |= {f"high{position}": 0.0 for position in of_sf}
        return answers

    monkeypatch.setattr(statistics, "msearch_dfs", answer)
    return searches


@pytest.mark.elasticsearch
def test_counts_are_exact_where_elasticsearch_counts_sentences_in_place_of_occurrences(
    spread: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    searches = count_searches(monkeypatch, is_faulty=True)
    with closing(ElasticsearchIndex(spread)) as index:
        for terms in (["river"], ["flood", "unknown"], ["stone", "bank"]):
            assert index.statistics(terms).terms == {term: EXACT[term] for term in terms}
    assert searches == [3, 1, 3, 1, 3, 2], "no occurrences are summed for a term that no sentence has"


@pytest.mark.elasticsearch
def test_a_right_server_is_asked_once_as_soon_as_a_repeated_term_is_known(
    spread: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not counts_occurrences(spread):
        pytest.skip("this version of Elasticsearch gives sf in place of cf")
    searches = count_searches(monkeypatch, is_faulty=False)
    with closing(ElasticsearchIndex(spread)) as index:
        for terms in (["river"], ["flood"], ["stone", "bank"], ["unknown"]):
            assert index.statistics(terms).terms == {term: EXACT[term] for term in terms}
    assert searches == [3, 1, 3, 3, 3]


@pytest.mark.elasticsearch
def test_one_shard_is_asked_once(elasticsearch_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    searches = count_searches(monkeypatch, is_faulty=False)
    with fresh(elasticsearch_url) as where:
        load_documents(where, REPEATING)
        with closing(ElasticsearchIndex(where)) as index:
            for terms in (["river"], ["stone", "bank"]):
                assert index.statistics(terms).terms == {term: EXACT[term] for term in terms}
    assert searches == [3, 3]


@pytest.mark.elasticsearch
def test_a_standalone_request_over_shards_is_refused_where_it_would_not_be_exact(
    spread: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ["query", "river bank", "--standalone", "--index", spread]
    if counts_occurrences(spread):
        assert CliRunner().invoke(main, command).exit_code == 0
    count_searches(monkeypatch, is_faulty=True)
    result = CliRunner().invoke(main, command)
    assert result.exit_code != 0
    assert "has several shards, over which its version of Elasticsearch counts sentences" in result.stderr
    assert "--shards 1" in result.stderr and not result.stdout
    assert CliRunner().invoke(main, [arg for arg in command if arg != "--standalone"]).exit_code == 0


@pytest.mark.elasticsearch
@pytest.mark.parametrize("shards", [1, 3])
def test_a_standalone_request_is_printed_where_nothing_is_counted_twice(
    elasticsearch_url: str, monkeypatch: pytest.MonkeyPatch, shards: int
) -> None:
    """Then sf is cf, on any version."""
    count_searches(monkeypatch, is_faulty=True)
    with fresh(elasticsearch_url) as where:
        load_documents(where, [document(f"d{n}", "flood bank") for n in range(6)], shards=shards)
        result = CliRunner().invoke(main, ["query", "flood", "--standalone", "--index", where])
    assert result.exit_code == 0, result.output
