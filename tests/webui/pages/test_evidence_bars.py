from __future__ import annotations

import pytest

from esr.ranking.explain import explain
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher
from webui.pages.evidence_bars import WIDTH, Segment, evidence_bars

QUERY = "earthquake relief China"
RANKINGS = [
    {},
    {"model": "bm25", "priors": {"length": 1.0}},
    {"features": [{"feature": "subj", "form": "step", "w": 2.0}]},
    {"rerank": [{"signal": "mrf_fdm", "w": 5.0}]},
    {"model": "tdsr"},
]


def bars(searcher: Searcher, ranking: Ranking, k: int) -> list[tuple[str, list[Segment]]]:
    hits = searcher.search(QUERY, k, ranking=ranking).hits
    drawn = evidence_bars(searcher.prepare(QUERY, ranking), hits)
    assert hits and list(drawn) == [hit.sentence_id for hit in hits]
    assert any(drawn.values())
    return [(name, list(segments)) for name, segments in drawn.items()]


@pytest.mark.parametrize("data", RANKINGS)
def test_a_bar_has_what_raises_the_score_in_the_explanation(searcher: Searcher, data: dict) -> None:  # type: ignore[type-arg]
    ranking = Ranking.from_dict(data)
    for name, segments in bars(searcher, ranking, 8):
        explanation = explain(searcher.prepare(QUERY, ranking), name)
        weight = explanation.second.weight if explanation.second else 1.0
        adds = [weight * f.adds for t in explanation.terms for f in t.fields]
        adds += [weight * p.adds for p in (*explanation.priors, *explanation.features)]
        adds += [sum(p.adds for p in explanation.second.signals)] if explanation.second else []
        evidence = sum(part for part in adds if part > 1e-12)
        assert sum(s.adds for s in segments) == pytest.approx(evidence, abs=1e-6)


def test_segments_follow_each_other_within_the_drawing(searcher: Searcher) -> None:
    for _, segments in bars(searcher, Ranking(), 20):
        x = 0.0
        for segment in segments:
            assert segment.x == pytest.approx(x)
            x += segment.width
        assert x <= WIDTH + 1e-9


def test_more_results_do_not_change_the_bars_of_the_first(searcher: Searcher) -> None:
    hits = searcher.search(QUERY, 20).hits[::-1]  # the later ones have more evidence
    prepared = searcher.prepare(QUERY, Ranking())
    few, many = (evidence_bars(prepared, hits[:n]) for n in (15, 20))
    assert any(few.values())
    assert {name: many[name] for name in few} == few


def test_without_hits_or_terms_there_is_no_bar(searcher: Searcher) -> None:
    prepared = searcher.prepare(QUERY, Ranking())
    assert evidence_bars(prepared, []) == {}
