"""The time that a second stage of term dependence adds to a query: medians of its steps.

    OMP_NUM_THREADS=1 python benchmarks/studies/rerank.py INDEX queries.tsv [--number 100]

INDEX is a folder or an alias of Elasticsearch, with parses. The file has lines "id<TAB>query"; its queries
with five distinct terms and at least 1,000 hits are used. Times are wall-clock times and include waiting for
Elasticsearch, which is also listed as `fetch`.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from esr.index.hits import Hit, LazyHits
from esr.index.questions import Parses
from esr.ranking.prepared_query import PreparedQuery
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher, UnsearchableQuery, open_searcher
from esr.ranking.second_stage.rerank_context import load_parses
from esr.ranking.second_stage.reranker import Candidates, Reranker, rerank
from esr.topics.topic import TITLE
from esr.topics.topic_files import read_topics

SECOND_STAGES = {
    "tdsr": [{"signal": "tdsr"}],
    "mrf_sdm": [{"signal": "mrf_sdm"}],
    "mrf_fdm": [{"signal": "mrf_fdm"}],
    "all three": [{"signal": "tdsr"}, {"signal": "mrf_sdm"}, {"signal": "mrf_fdm"}],
}
TERMS = 5


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("index")
    options.add_argument("queries", type=Path)
    options.add_argument("--number", type=int, default=100)
    options.add_argument("--model", default="dir", help="the first stage")
    arguments = options.parse_args()
    times: dict[str, list[float]] = defaultdict(list)
    with open_searcher(arguments.index) as searcher:
        queries = list(islice(_find_queries(searcher, arguments.queries, arguments.model), arguments.number))
        for query, hits in queries:
            for name, milliseconds in _time_steps(searcher, query, hits, arguments.model):
                times[name].append(milliseconds)
    print(f"{len(queries)} queries of {TERMS} terms, 1,000 sentences each")
    for name, of_step in times.items():
        print(f"| {name} | {np.median(of_step):.1f} | {np.percentile(of_step, 95):.1f} |")


def _find_queries(searcher: Searcher, path: Path, model: str) -> Iterator[tuple[str, list[Hit]]]:
    for topic in read_topics(path):
        query = topic.fields[TITLE]
        try:
            if len(searcher.terms(query)) != TERMS:
                continue
        except UnsearchableQuery:
            continue
        hits = searcher.search(query, 1000, model=model, records=False).hits
        if len(hits) == 1000:
            yield query, list(hits)


def _time_steps(searcher: Searcher, query: str, hits: list[Hit], model: str) -> Iterator[tuple[str, float]]:
    prepared = searcher.prepare(query, Ranking.from_dict({"model": model}))
    ids, ordinals = [hit.sentence_id for hit in hits], [hit.ordinal for hit in hits]
    prepared.index.read(ids, Parses(), ordinals)  # so that no timed step reads from disk
    yield "fetch", _time(lambda: prepared.index.read(ids, Parses(), ordinals))
    yield "fetch, decode", _time(lambda: load_parses(prepared.index, prepared.counts, ids, ordinals))
    for name, signals in SECOND_STAGES.items():
        reranker = Ranking.from_dict({"model": model, "rerank": signals}).reranker()
        assert reranker is not None
        yield f"in all, {name}", _time(partial(_rerank, prepared, hits, reranker))


def _rerank(prepared: PreparedQuery, hits: list[Hit], reranker: Reranker) -> None:
    ids, ordinals = [hit.sentence_id for hit in hits], [hit.ordinal for hit in hits]
    candidates = Candidates(LazyHits.of(hits), len(hits), len(hits), len(hits))
    rerank(candidates, prepared.rerank_context(ids, reranker.columns, ordinals), reranker)


def _time(step: Any) -> float:
    started = time.perf_counter()
    step()
    return 1000 * (time.perf_counter() - started)


if __name__ == "__main__":
    main()
