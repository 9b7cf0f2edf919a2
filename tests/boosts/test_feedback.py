from __future__ import annotations

import pytest

from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher


def ranking(**values: float) -> Ranking:
    return Ranking("jm", boosts={"feedback": values})


def weights(searcher: Searcher, query: str, boosted: Ranking) -> dict[str, float]:
    return {term.term: term.weight for term in searcher.prepare(query, boosted).plan.terms}


def test_the_terms_of_the_first_sentences_share_the_weight_by_their_probability(searcher: Searcher) -> None:
    """The first two for "policy migration" are a0 and a2: p is 1/3 each in the one, 1/2 each in the other."""
    ids = [hit.sentence_id for hit in searcher.search("policy migration", 2, model="jm").hits]
    assert ids == ["a0", "a2"]
    probabilities = {"policy": 1 / 3, "migration": 1 / 3 + 1 / 2, "bank": 1 / 3, "court": 1 / 2}
    total = sum(probabilities.values())
    expected = {
        term: 0.6 * 2 * p / total for term, p in probabilities.items()
    }  # two terms of the query at .6
    expected["policy"] += 1
    expected["migration"] += 1
    assert weights(searcher, "policy migration", ranking(w=0.6, sentences=2)) == pytest.approx(expected)


def test_no_more_than_the_best_sentences_are_looked_at(searcher: Searcher) -> None:
    """Three sentences have "bank", of which "bank bank vote" is the best."""
    assert set(weights(searcher, "bank", ranking(sentences=1))) == {"bank", "vote"}
    assert len(weights(searcher, "bank", ranking(sentences=2))) > 2


def test_only_the_likeliest_terms_are_taken_and_of_equal_ones_the_first_by_name(searcher: Searcher) -> None:
    weights_by_term = weights(searcher, "policy migration", ranking(w=0.6, sentences=2, terms=2))
    assert weights_by_term == pytest.approx({"policy": 1, "migration": 1 + 1.2 * 5 / 8, "court": 1.2 * 3 / 8})
    weights_by_term = weights(searcher, "policy", ranking(w=0.5, sentences=1, terms=1))
    assert weights_by_term == pytest.approx(
        {"policy": 1, "bank": 0.5}
    )  # bank, migration and policy are equals


def test_filters_do_not_change_it_so_that_explain_and_search_agree(searcher: Searcher) -> None:
    from esr.engines.index import Filters
    from esr.ranking.explain import explain

    boosted = ranking(w=0.5, sentences=2)
    (hit,) = searcher.search("policy vote", 1, ranking=boosted, filters=Filters(documents=("b",))).hits
    assert explain(searcher.prepare("policy vote", boosted), hit.sentence_id).score == pytest.approx(
        hit.score
    )


def test_the_first_search_is_that_of_the_ranking_without_boosts(searcher: Searcher) -> None:
    boosted = Ranking("jm", boosts={"variants": 0.2, "feedback": {"sentences": 1}})
    alone = {term: w for term, w in weights(searcher, "migrating", boosted).items() if term == "migraine"}
    assert alone == pytest.approx({"migraine": 0.1 / 3})
    assert searcher.prepare("unheardof", boosted).plan.terms == ()
