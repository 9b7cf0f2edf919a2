"""The boost `feedback`: terms of the sentences that a first search ranks best."""

from __future__ import annotations

from collections import Counter

from esr.ranking.boosts.boost import Boost, BoostQuery, Expansion, Settings, weight_parameter
from esr.registry import Parameter


def expand_feedback(settings: Settings, query: BoostQuery) -> Expansion:
    """Expand by the most probable terms of the best sentences: pseudo-relevance feedback with RM3.

    p(t|R) = sum over the first n sentences s of  p(s|q) c(t,s)/c(s)  (Lavrenko & Croft 2001), mixed with the
    query (Abdul-Jaleel et al. 2004). All n sentences count the same, p(s|q) = 1/n: so the boost works with
    every model, and scores that differ only in the last digit cannot change a term's weight. The weights of
    the terms add up to those of the query's terms.
    """
    probabilities: dict[str, float] = {}
    for hit in query.top_hits(int(settings["sentences"])):
        assert hit.record is not None
        counts = Counter(query.index.analyzer.terms(hit.record.text))
        for term, count in counts.items():
            probabilities[term] = probabilities.get(term, 0.0) + count / counts.total()
    ordered = sorted(probabilities, key=lambda term: (-probabilities[term], term))
    selected = ordered[: int(settings["terms"])]
    total = sum(probabilities[term] for term in selected)
    length = sum(query.counts.values())
    return Expansion({term: length * probabilities[term] / total for term in selected})


FEEDBACK = Boost(
    "feedback",
    "RM3: the terms of the best sentences of a first search, at w times the weight of the query",
    "Lavrenko & Croft 2001; Abdul-Jaleel et al. 2004",
    expand_feedback,
    (
        weight_parameter(0.1, (0.0, 0.05, 0.1, 0.2, 0.3, 0.5)),
        Parameter(
            "sentences", "number of sentences of the first search", 10.0, low=1, high=1000, integer=True
        ),
        Parameter("terms", "number of terms taken from them", 20.0, low=1, high=1000, integer=True),
    ),
    uses_first_search=True,
)
