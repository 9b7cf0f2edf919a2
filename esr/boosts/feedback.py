"""feedback: RM3, the terms of the best sentences of a first search are added to the query.

p(t|R) = sum over the first n sentences s of  p(s|q) c(t,s)/c(s)  (Lavrenko & Croft 2001), mixed with the
query (Abdul-Jaleel et al. 2004). All n sentences count the same here, p(s|q) = 1/n: it goes with every model,
and scores that differ in the last digit only cannot change a term's weight.
"""

from __future__ import annotations

from collections import Counter

from esr.boosts.boost import Added, Asked, Boost, Settings, register, weight
from esr.parameter import Parameter


def add(settings: Settings, asked: Asked) -> Added:
    """The likeliest terms of the first sentences. Their weights add up to those of the query's terms."""
    likely: dict[str, float] = {}
    for hit in asked.first(int(settings["sentences"])):
        assert hit.record is not None
        counts = Counter(asked.index.analyzer.terms(hit.record.text))
        for term, count in counts.items():
            likely[term] = likely.get(term, 0.0) + count / counts.total()
    best = sorted(likely, key=lambda term: (-likely[term], term))[: int(settings["terms"])]
    total = sum(likely[term] for term in best)
    length = sum(asked.counts.values())
    return Added({term: length * likely[term] / total for term in best})


register(
    Boost(
        "feedback",
        "RM3: the terms of the best sentences of a first search, at w of the query's own weight",
        "Lavrenko & Croft 2001; Abdul-Jaleel et al. 2004",
        add,
        (
            weight(0.1, (0.0, 0.05, 0.1, 0.2, 0.3, 0.5)),
            Parameter("sentences", "sentences of the first search", 10.0, low=1, high=1000, whole=True),
            Parameter("terms", "terms that are taken from them", 20.0, low=1, high=1000, whole=True),
        ),
        searches=True,
    )
)
