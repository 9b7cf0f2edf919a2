"""The time that reranking by signals adds to a search."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import partial
from typing import Any

from benchmarks.speed import queries
from benchmarks.speed.setup import Setup
from benchmarks.speed.timing import time_interleaved
from benchmarks.speed.workspace import enriched_index
from esr.dependency import signals
from esr.models.priors import PRIORS
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher, open_searcher
from esr.ranking.signals import FEATURE, PRIOR, RankingSignal

PARSER = "spacy"


def rerank(setup: Setup) -> Iterator[dict[str, Any]]:
    """Rerank the best `depth` sentences of the default model by each group of signals and by all of them."""
    with open_searcher(str(enriched_index(setup))) as searcher:
        sample = _find_large(searcher, queries.all_queries(setup), setup)
        groups = {
            "priors": [PRIOR + name for name in PRIORS],
            "features": [FEATURE + name for name in sorted(searcher.index.features())],
            "dependency": list(signals.SIGNALS),
        }
        groups["all signals"] = [name for group in groups.values() for name in group]
        first = partial(searcher.search, ranking=Ranking(), records=False)
        searches = {"top 10": partial(first, k=10), "first stage": partial(first, k=setup.depth)}
        for name, group in groups.items():
            ranking = Ranking(rerank=tuple(map(RankingSignal, group)), depth=setup.depth)
            searches[name] = partial(searcher.search, ranking=ranking, records=False)
        yield {
            "queries": len(sample),
            "depth": setup.depth,
            "signals": {name: len(group) for name, group in groups.items()},
            "times": time_interleaved(searches, sample, setup.rounds),
            "parser loaded": PARSER in sys.modules,
        }


def _find_large(searcher: Searcher, candidates: list[str], setup: Setup) -> list[str]:
    """The first `number` queries with at least `depth` matching sentences."""
    sample: list[str] = []
    for query in candidates:
        if searcher.search(query, 1, records=False).total >= setup.depth:
            sample.append(query)
            if len(sample) == setup.number:
                break
    return sample
