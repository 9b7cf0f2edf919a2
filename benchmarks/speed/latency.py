"""The times of searches by the embedded engine and its peers: by size, by model, and with cold terms.

Exhaustive scoring is timed separately, because it evicts the processor's caches.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.speed import peers, queries
from benchmarks.speed.timing import Search, time_interleaved, time_search
from benchmarks.speed.workspace import RESULT_SIZES, Setup, enriched_index, esr_index
from esr.dependency import dependence_signals
from esr.folder.format import manifest
from esr.folder.format.snapshot import Snapshot
from esr.folder.search.cache import SearchCache
from esr.folder.search.candidates import search_exhaustive
from esr.folder.search.kernel_loader import LOADER
from esr.folder.search.records import DocumentCache, read_records
from esr.index.filters import NO_FILTERS
from esr.index.hits import Hit, LazyHits
from esr.index.limits import SearchMemory
from esr.index.questions import Features
from esr.models import MODELS
from esr.models.priors import PRIORS
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher, open_searcher
from esr.ranking.second_stage.signal_types import FEATURE, PRIOR
from esr.ranking.second_stage.signals import RankingSignal

OWN_TERMS = Ranking(candidates="matching")
GROWN = ("bm25s", "tantivy")
"""The peers at every size."""
DEPTHS = (1, 2, 5, 10, 20, 50, 100)
"""Depths of the first stage in `recall`, as multiples of k."""


class Exhaustive:
    """The embedded engine with every candidate scored, which the public interface does not offer."""

    def __init__(self, where: Path) -> None:
        self.searcher = open_searcher(str(where))
        self.snapshot = Snapshot(where, manifest.read_manifest(where))
        self._cache = SearchCache(self.snapshot)

    def search(self, query: str, k: int) -> list[tuple[int, float]]:
        plan = self.searcher.prepare(query, Ranking()).plan
        best = search_exhaustive(plan, self._cache, k, NO_FILTERS)
        return list(zip(best.ordinals.tolist(), best.scores.tolist(), strict=True))


def latency(setup: Setup) -> Iterator[dict[str, Any]]:
    """The default model in all ways of searching, at the size of the source."""
    sample, where = queries.sample(setup), esr_index(setup, 1)
    searcher, exhaustive = _open(where), Exhaustive(where)
    snapshot = searcher.index.snapshot()
    plans = {query: searcher.prepare(query, Ranking()).plan for query in sample}

    def search_planned(query: str, k: int) -> object:
        return snapshot.search(plans[query], k, NO_FILTERS, records=False)

    def search_ids(query: str, k: int) -> object:
        return list(searcher.search(query, k=k, records=False).hits)

    def search_unpacking(query: str, k: int) -> object:
        """Search with texts of documents that are not cached."""
        hits = LazyHits.of(searcher.search(query, k=k, records=False).hits)
        documents = DocumentCache(exhaustive.snapshot.segments, SearchMemory(0))
        return read_records(exhaustive.snapshot, documents, hits.ordinals.tolist())

    for k in RESULT_SIZES:
        searches: dict[str, Search] = {
            "esr": partial(searcher.search, k=k, records=False),
            **_peers(setup, 1, sample, k),
            "esr, plan made before": partial(search_planned, k=k),
            "esr, with ids": partial(search_ids, k=k),
            "esr, with texts": partial(searcher.search, k=k),
            "esr, with texts of new documents": partial(search_unpacking, k=k),
            "esr, own terms only": partial(searcher.search, k=k, ranking=OWN_TERMS, records=False),
        }
        times = time_interleaved(searches, sample, setup.rounds)
        times |= time_interleaved({"esr, exhaustive": partial(exhaustive.search, k=k)}, sample, setup.rounds)
        yield {"key": k, "times": times, "answers": _compare_answers(searcher, exhaustive, sample, k)}


def growth(setup: Setup) -> Iterator[dict[str, Any]]:
    """The default model at several sizes, all of them in turns."""
    sample = queries.sample(setup)
    searchers = {size: _open(esr_index(setup, size)) for size in setup.sizes}
    exhaustive = {size: Exhaustive(esr_index(setup, size)) for size in setup.sizes}
    for k in RESULT_SIZES:
        searches: dict[str, Search] = {
            f"esr {size}": partial(searchers[size].search, k=k, records=False) for size in setup.sizes
        }
        searches |= {
            f"{name} {size}": search
            for size in setup.sizes
            for name, search in _peers(setup, size, sample, k).items()
            if name in GROWN
        }
        times = time_interleaved(searches, sample, setup.rounds)
        alone: dict[str, Search] = {
            f"esr, exhaustive {size}": partial(exhaustive[size].search, k=k) for size in setup.sizes
        }
        times |= time_interleaved(alone, sample, setup.rounds)
        answers = {
            str(size): _compare_answers(searchers[size], exhaustive[size], sample, k) for size in setup.sizes
        }
        yield {"key": f"{k} {_named(setup.sizes)}", "k": k, "sizes": setup.sizes, "times": times} | {
            "answers": answers
        }


def models(setup: Setup) -> Iterator[dict[str, Any]]:
    """Every model of the first stage in each of its contexts, top 100."""
    sample, searcher, k = queries.sample(setup), _open(esr_index(setup, 1)), RESULT_SIZES[-1]
    rankings = {
        f"{name} {context}" if context else name: Ranking(name, context)
        for name, model in MODELS.items()
        if model.second_stage is None
        for context in model.contexts or (None,)
    }
    searches: dict[str, Search] = {
        name: partial(searcher.search, k=k, ranking=ranking, records=False)
        for name, ranking in rankings.items()
    }
    answers = {
        name: [searcher.search(query, k, ranking=ranking, records=False) for query in sample]
        for name, ranking in rankings.items()
    }
    yield {
        "key": k,
        "times": time_interleaved(searches | _peers(setup, 1, sample, k), sample, setup.rounds),
        "scored": {name: [a.scored for a in of_model] for name, of_model in answers.items()},
        "exhaustive": {
            name: sum(a.exhaustive is not None for a in of_model) for name, of_model in answers.items()
        },
    }


def cold(setup: Setup) -> Iterator[dict[str, Any]]:
    """Queries of terms that are not cached, and the same queries repeated at once.

    Queries that share no term are run on a newly opened index, after a query of other terms.
    """
    all_queries = queries.all_queries(setup)
    times: dict[str, list[float]] = {"first": [], "again": []}
    for group in queries.group_disjoint(all_queries[: setup.number]):
        with _open(esr_index(setup, 1)) as searcher:
            for others in all_queries[setup.number :], group:
                warm_up = queries.find_unrelated(group, others)
                if warm_up is not None:
                    searcher.search(warm_up, 10, records=False)
            search = partial(searcher.search, k=10, records=False)
            for query in group:
                times["first"].append(round(time_search(search, query), 4))
                times["again"].append(round(time_search(search, query), 4))
    yield {"key": 10, "times": times}


def recall(setup: Setup) -> Iterator[dict[str, Any]]:
    """The share of the exact answer that a first stage by BM25 finds, and its time, at several depths.

    Rescoring by a second stage is not timed, so an approximation in two stages is slower than these times,
    and its recall is not higher.
    """
    sample, searcher = queries.sample(setup), _open(esr_index(setup, 1))
    for k in RESULT_SIZES:
        exact = {query: _ids(searcher.search(query, k, records=False).hits) for query in sample}
        own = {q: _ids(searcher.search(q, k, ranking=OWN_TERMS, records=False).hits) for q in sample}
        searches: dict[str, Search] = {
            "esr": partial(searcher.search, k=k, records=False),
            "esr, own terms only": partial(searcher.search, k=k, ranking=OWN_TERMS, records=False),
        }
        share = {"esr": 1.0, "esr, own terms only": _share(exact, own)}
        for depth in (k * times for times in DEPTHS):
            name = f"tantivy {depth}"
            searches[name] = peers.tantivy_searches(setup, 1, sample, depth)["tantivy"]
            share[name] = _share(exact, {q: peers.tantivy_best(setup, 1, q, depth) for q in sample})
        yield {"key": k, "recall": share, "times": time_interleaved(searches, sample, setup.rounds)}


def _open(where: Path) -> Searcher:
    """Open a folder with the compiled kernel, as a server does."""
    LOADER.load()
    return open_searcher(str(where))


def _peers(setup: Setup, size: int, sample: Sequence[str], k: int) -> dict[str, Search]:
    return {
        **peers.bm25s_searches(setup, size, sample, k),
        **peers.tantivy_searches(setup, size, sample, k),
    }


def _compare_answers(
    searcher: Searcher, exhaustive: Exhaustive, sample: Sequence[str], k: int
) -> dict[str, Any]:
    """The numbers of sentences that match and are scored, and of queries whose pruned answer differs."""
    answers = [searcher.search(query, k, records=False) for query in sample]
    different = 0
    for query, answer in zip(sample, answers, strict=True):
        different += [(hit.ordinal, hit.score) for hit in answer.hits] != exhaustive.search(query, k)
    return {
        "sentences": searcher.index.statistics([]).collection.sentences,
        "matches": [answer.total for answer in answers],
        "scored": [answer.scored for answer in answers],
        "exhaustive": sum(answer.exhaustive is not None for answer in answers),
        "differ": different,
    }


def _share(exact: dict[str, list[str]], approximate: dict[str, list[str]]) -> float:
    """The mean share of the exact answer that is in the approximate one."""
    shares = [len({*best} & {*approximate[query]}) / len(best) for query, best in exact.items() if best]
    return round(sum(shares) / len(shares), 4)


def _ids(hits: Sequence[Hit]) -> list[str]:
    return [hit.sentence_id for hit in hits]


def _named(sizes: Sequence[int]) -> str:
    return " ".join(f"{size}x" for size in sizes)


# The time that reranking by signals adds to a search.


PARSER = "spacy"


def rerank(setup: Setup) -> Iterator[dict[str, Any]]:
    """Rerank the best `depth` sentences of the default model by each group of signals and by all of them."""
    with open_searcher(str(enriched_index(setup))) as searcher:
        sample = _find_large(searcher, queries.all_queries(setup), setup)
        groups = {
            "priors": [PRIOR + name for name in PRIORS],
            "features": [FEATURE + name for name in sorted(searcher.index.status(Features()))],
            "dependency": list(dependence_signals.SIGNALS),
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
