"""Statistics of terms are those of the sentences, however frequent a term is."""

from __future__ import annotations

from collections import Counter
from contextlib import closing

import pytest

from esr.engines.elasticsearch.cluster.requests import msearch_dfs
from esr.engines.elasticsearch.index import ElasticsearchIndex
from esr.engines.elasticsearch.store import term_statistics
from esr.engines.elasticsearch.store.term_statistics import read_term_statistics
from tests.support.elasticsearch import fresh
from tests.support.elasticsearch_pruning import load
from tests.support.pruning import adverse_documents

pytestmark = pytest.mark.elasticsearch


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

    monkeypatch.setattr(term_statistics, "msearch_dfs", record)
    with fresh(elasticsearch_url) as where:
        load(where, documents, shards=shards)
        with closing(ElasticsearchIndex(where)) as index:
            for located in documents:
                for sentence in located.document.sentences:
                    terms = index.analyzer.terms(sentence.text)
                    occurrences.update(terms)
                    holders.update(set(terms))
            terms = [*occurrences, "unknown"]
            for exact in (1 << 24, 64):
                monkeypatch.setattr(term_statistics, "_EXACT", exact)
                found = read_term_statistics(index.cluster, terms)
                assert {term: of_term.cf for term, of_term in found.items()} == {
                    term: occurrences[term] for term in terms
                }
                assert {term: of_term.sf for term, of_term in found.items()} == {
                    term: holders[term] for term in terms
                }
    assert max(occurrences.values()) > 300 and max(holders.values()) > 64
    assert searches == [3, 3], "no occurrences were summed over the hits"
