"""Compute figures of settings on topics.

Each topic's candidates are retrieved once and scored under all settings. The figures equal those of trec_eval
on the run that `esr run` would write: the best `depth` sentences, with scores in single precision and ties by
descending id. A test compares them with `esr evaluate`. Objectives depend only on the ranks of the relevant
sentences.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

import msgspec.json
import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from esr.lab.judgements import Qrels
from esr.plugin import UsageError
from esr.plugin.provisional import (
    BOOST_WEIGHT,
    EVIDENCE_COLUMNS,
    NO_FILTERS,
    SPAWN,
    TITLE,
    Array,
    CandidateEvidence,
    Evidence,
    EvidenceOf,
    Filters,
    GroupedEvidence,
    LazyIds,
    Plan,
    PreparedQuery,
    Ranking,
    RerankContext,
    Reranker,
    Restrictions,
    Searcher,
    StaticScore,
    Topic,
    UnsearchableQuery,
    choose_restrictions,
    concatenate,
    defer_interrupt,
    end_with_parent,
    get_boost,
    merge_scores,
    no_evidence,
    open_pools,
    open_searcher,
    score_nearest,
    top_k,
    translate_death,
)


class JudgedCandidates(NamedTuple):
    """The candidates of a topic in collection order, and which of them are relevant.

    The plan found the first `by_words` candidates; the others were found only by vectors. `nearest` has the
    rows of all candidates found by vectors, `relevant` those of the relevant ones. `judged` counts all
    relevant sentences of the topic, including those that are not candidates.
    """

    prepared: PreparedQuery
    grouped: GroupedEvidence
    relevant: npt.NDArray[np.intp]
    judged: int
    sentence_id: Callable[[int], str]
    context: RerankContext
    by_words: int
    nearest: npt.NDArray[np.intp]

    @property
    def evidence(self) -> Evidence:
        return self.grouped.evidence

    def scores(self, ranking: Ranking) -> Array:
        """Score the candidates under a setting, without a search."""
        plan = self.prepared.replan(ranking)
        first = self.grouped.score_sentences(plan) if plan.terms else score_nearest(plan, self.evidence)
        reranker = ranking.reranker()
        if reranker is None:
            return first
        scored = np.flatnonzero(np.isfinite(first[: self.by_words]))
        best = np.sort(scored[top_k(first[scored], reranker.depth)])
        top = np.union1d(best, self.nearest[np.isfinite(first[self.nearest])])
        # The context covers all candidates, because the setting determines which are best.
        return merge_scores(first, top, reranker.scores(first, self.context, top, best))


def retrieve_candidates(
    searcher: Searcher, query: str, ranking: Ranking, filters: Filters, relevant: Iterable[str]
) -> JudgedCandidates | None:
    """The candidates of a topic, or None if there are none.

    They depend on the ranking's model, context and candidate rule, and on the depth and the query vector of
    a second stage that uses vectors; other parameters do not affect them. The evidence has the columns of the
    ranking's features and the terms of its boosts.
    """
    searcher, relevant = searcher.snapshot(), list(relevant)
    try:
        prepared = searcher.prepare(query, ranking, literal=True)
    except UnsearchableQuery:
        return None
    plan = prepared.plan
    reranker = ranking.reranker()
    uses_vectors = reranker is not None and reranker.uses_vectors
    if not prepared.has_candidates and not uses_vectors:
        return None
    columns = reranker.columns if reranker else ()
    static_scores = (*plan.static_scores, *(StaticScore(column, "linear", 0.0) for column in columns))
    plan = replace(plan, static_scores=static_scores)
    index = prepared.index
    candidates = index.candidates(plan, filters) if prepared.has_candidates else _no_candidates(plan)
    by_words, nearest = len(candidates.evidence.lengths["sentence"]), np.zeros(0, np.intp)
    if reranker is not None and uses_vectors:
        candidates, nearest = _add_nearest(prepared, plan, candidates, reranker, filters)
    elif reranker is None:  # nothing else uses the counts
        candidates = replace(candidates, evidence=candidates.evidence.pack())
    rows = [row for row in map(candidates.row_of, relevant) if row is not None]
    # The same few sentences tie under many settings.
    sentence_id = cache(candidates.sentence_id)

    ids = LazyIds(
        len(candidates.evidence.lengths["sentence"]),
        lambda places: [candidates.sentence_id(row) for row in places.tolist()],
    )
    context = replace(
        prepared.rerank_context(ids, ()),
        terms=[term.term for term in plan.terms],
        evidence=lambda: candidates.evidence,
    )
    relevant_rows = np.array(sorted(rows), np.intp)
    return JudgedCandidates(
        prepared,
        GroupedEvidence(candidates.evidence),
        relevant_rows,
        len(relevant),
        sentence_id,
        context,
        by_words,
        nearest,
    )


def _no_candidates(plan: Plan) -> CandidateEvidence:
    columns = {*EVIDENCE_COLUMNS, *(static_score.column for static_score in plan.static_scores)}
    return CandidateEvidence(no_evidence(len(plan.terms), columns), lambda row: "", lambda id: None)


def _add_nearest(
    prepared: PreparedQuery, plan: Plan, candidates: CandidateEvidence, reranker: Reranker, filters: Filters
) -> tuple[CandidateEvidence, npt.NDArray[np.intp]]:
    """Append the candidates found only by vectors, in collection order.

    Returns all candidates, and the rows of those found by vectors.
    """
    if not prepared.vectors.text.strip():
        return candidates, np.zeros(0, np.intp)
    index, by_words = prepared.index, len(candidates.evidence.lengths["sentence"])
    encoder, vector = prepared.vectors.vector(reranker.vector_weights)
    nearest = index.nearest(encoder, vector, reranker.depth, plan.condition, filters)
    rows = [candidates.row_of(hit.sentence_id) for hit in nearest]
    new = sorted(
        (hit for hit, row in zip(nearest, rows, strict=True) if row is None), key=lambda hit: hit.ordinal
    )
    ids, ordinals = [hit.sentence_id for hit in new], [hit.ordinal for hit in new]
    columns = [static_score.column for static_score in plan.static_scores]
    evidence = index.read(ids, EvidenceOf([term.term for term in plan.terms], columns), ordinals)
    new_rows = {id: by_words + n for n, id in enumerate(ids)}

    def row_of(id: str) -> int | None:
        return new_rows[id] if id in new_rows else candidates.row_of(id)

    with_nearest = CandidateEvidence(
        concatenate([candidates.evidence, evidence]),
        lambda row: candidates.sentence_id(row) if row < by_words else ids[row - by_words],
        row_of,
    )
    known = [row for row in rows if row is not None]
    return with_nearest, np.array([*known, *new_rows.values()], np.intp)


# Objectives


Ranks = npt.NDArray[np.intp]
Measure = Callable[[Ranks, int], float]
DEPTH = 1000
MEMORY = 1_000_000_000


def rank_relevant(candidates: JudgedCandidates, scores: Array, depth: int = DEPTH) -> Ranks:
    """The ranks, from 1, of the relevant sentences among the best `depth`, in ascending order."""
    scored = np.flatnonzero(np.isfinite(scores))
    top = scored[top_k(scores[scored], depth)]
    with np.errstate(over="ignore"):
        single = scores[top].astype(np.float32)
    is_relevant = np.zeros(len(scores), bool)
    is_relevant[candidates.relevant] = True
    ranks: list[int] = []
    for value in np.unique(single[is_relevant[top]]):
        first, end = np.searchsorted(-single, [-value, np.nextafter(-value, np.float32(np.inf))])
        tied = top[first:end].tolist()
        if len(tied) > 1:
            tied.sort(key=candidates.sentence_id, reverse=True)
        ranks += [first + n for n, row in enumerate(tied, 1) if is_relevant[row]]
    return np.array(sorted(ranks), np.intp)


def parse_objective(name: str) -> Measure:
    """Parse AP, RR, RPrec, P@k or R@k. Raises UsageError for other measures, which need more than ranks."""
    if name in _WITHOUT_CUTOFF:
        return _WITHOUT_CUTOFF[name]
    match = re.fullmatch(r"([PR])@(\d+)", name)
    if not match or not int(match[2]):
        raise UsageError(f"cannot tune for {name!r}: choose AP, RR, RPrec, P@k or R@k, such as P@10")
    k = int(match[2])
    if match[1] == "P":
        return lambda ranks, judged: int((ranks <= k).sum()) / k
    return lambda ranks, judged: int((ranks <= k).sum()) / judged if judged else 0.0


def _average_precision(ranks: Ranks, judged: int) -> float:
    total = 0.0
    for number, rank in enumerate(ranks.tolist(), 1):  # trec_eval's order, for the same last digit
        total += number / rank
    return total / judged if judged else 0.0


_WITHOUT_CUTOFF: dict[str, Measure] = {
    "AP": _average_precision,
    "RR": lambda ranks, judged: 1.0 / int(ranks[0]) if len(ranks) else 0.0,
    "RPrec": lambda ranks, judged: int((ranks <= judged).sum()) / judged if judged else 0.0,
}


# Tuning


Figures = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Task:
    """A topic to tune on: its query, its relevant sentences, and the filters of its candidates."""

    topic: str
    query: str
    relevant: tuple[str, ...]
    filters: Filters = NO_FILTERS


class Tuner:
    """Computes figures of settings on topics of one index.

    Candidates are cached as long as they fit into `memory` bytes. Tuners of other tasks or objectives share
    the cache, and the workers, if there are any.
    """

    def __init__(
        self,
        searcher: Searcher,
        tasks: Sequence[Task],
        objective: str = "AP",
        depth: int = DEPTH,
        memory: int = MEMORY,
        cache: _Cache | None = None,
        workers: Workers | None = None,
    ) -> None:
        self.tasks: tuple[Task, ...] = tuple(tasks)
        self._objective = objective
        self._measure = parse_objective(objective)
        self._depth = depth
        self.searcher = searcher
        self.cache: _Cache = _Cache(searcher, memory) if cache is None else cache
        self._workers = workers

    def select_tasks(self, positions: Sequence[int]) -> Tuner:
        """A tuner on the tasks at these positions."""
        tasks = [self.tasks[position] for position in positions]
        return Tuner(
            self.searcher, tasks, self._objective, self._depth, cache=self.cache, workers=self._workers
        )

    def compute_figures(
        self, settings: Sequence[Ranking], tick: Callable[[int], None] = lambda n: None
    ) -> Figures:
        """Figures of the settings, of shape (settings, topics). `tick` is called with 1 after each topic.

        Consecutive settings with the same candidates share their retrieval.
        """
        if any((reranker := s.reranker()) is not None and reranker.last for s in settings):
            raise UsageError("no tuning computes a cross-encoder: leave out --rerank cross")
        figures = self.cache.figures
        encode = msgspec.json.Encoder(order="sorted").encode
        keys = [(self._objective, encode(setting)) for setting in settings]
        if self._workers is not None:
            missing = [task for task in self.tasks if any((task, key) not in figures for key in keys)]
            for task, row in self._workers.compute(missing, self._objective, self._depth, settings):
                figures |= zip(((task, key) for key in keys), row, strict=True)
                tick(1)
            tick(len(self.tasks) - len(missing))
            return np.array([[figures[task, key] for task in self.tasks] for key in keys])
        as_given, of_given = list(settings), list(map(_candidates_key, settings))
        for task in self.tasks:
            rankings = [self.searcher.fill_defaults(setting, task.query) for setting in as_given]
            shared = of_given if rankings == as_given else list(map(_candidates_key, rankings))
            left = [n for n, key in enumerate(keys) if (task, key) not in figures]
            for _, places in groupby(left, shared.__getitem__):
                alike = list(places)
                values = self._measure_on(task, [rankings[n] for n in alike])
                figures |= zip(((task, keys[n]) for n in alike), values, strict=True)
            tick(1)
        return np.array([[figures[task, key] for task in self.tasks] for key in keys])

    def _measure_on(self, task: Task, settings: Sequence[Ranking]) -> list[float]:
        """The figures of settings with the same candidates."""
        candidates = self.cache.get(task, settings[0])
        if candidates is None:
            return [0.0] * len(settings)
        may_compile = len(settings) > 1 and all(s.reranker() is None for s in settings)
        ranks: list[Ranks | None] = [None] * len(settings)
        for n, setting in enumerate(settings):
            rank = self.cache.compiled.function
            if rank is not None and may_compile:
                plans = [candidates.prepared.replan(s) for s in settings[n:]]
                with self.cache.compiled.hold_lock():
                    ranks[n:] = rank(
                        candidates.grouped, candidates.relevant, candidates.sentence_id, plans, self._depth
                    )
                may_compile = False
            if ranks[n] is None:
                with self.cache.compiled.count_time():
                    ranks[n] = rank_relevant(candidates, candidates.scores(setting), self._depth)
        return [self._measure(r, candidates.judged) for r in ranks if r is not None]


def _candidates_key(ranking: Ranking) -> tuple[Any, ...]:
    """The part of a ranking that determines its candidates.

    Boosts enter with their parameters but without weights. If a boost needs a first search, so does
    everything that the first stage depends on; if the second stage uses vectors, so do its depth and the
    weights of the query vector.
    """
    reranker = ranking.reranker()
    reranker_columns = reranker.columns if reranker else ()
    columns = frozenset([*(feature.column for feature in ranking.features), *reranker_columns])
    shape = json.dumps(
        [[name, {**settings, BOOST_WEIGHT: None}] for name, settings in ranking.boosts.items()]
    )
    searches = any(get_boost(name).uses_first_search for name in ranking.boosts)
    first = json.dumps(replace(ranking, boosts={}, rerank=(), trees=None).as_dict()) if searches else None
    nearest = (reranker.depth, reranker.vector_weights) if reranker and reranker.uses_vectors else None
    return ranking.model, ranking.context, ranking.candidates, columns, shape, first, nearest


LOAD_AFTER = 1.0
"""Total seconds of scoring with numpy after which the compiled loop is loaded."""


class CompiledLoop:
    """`rank_under_settings`, loaded once it would save time.

    The first call on a machine compiles it, which takes some seconds, and stores the result for later calls.
    Of the processes that share a lock, one compiles and the others load the stored result.
    """

    def __init__(self, lock: AbstractContextManager[object]) -> None:
        self.function: Callable[..., list[Ranks | None]] | None = None
        self._left = LOAD_AFTER
        self._lock = lock

    @contextmanager
    def hold_lock(self) -> Iterator[None]:
        """Hold the lock for the first call."""
        with self._lock:
            yield
        self._lock = nullcontext()

    @contextmanager
    def count_time(self) -> Iterator[None]:
        """Add the time spent inside to that of scoring with numpy. May then load the loop."""
        started = time.perf_counter()
        yield
        self._left -= time.perf_counter() - started
        if self._left < 0.0:
            self._left = np.inf
            with suppress(ImportError, RuntimeError):  # no numba, or no writable cache for compiled code
                from esr.lab.setting_ranks import rank_under_settings

                self.function = rank_under_settings


class _Cache:
    """Figures by task and setting, and candidates up to a number of bytes, which are retrieved on demand."""

    def __init__(
        self, searcher: Searcher, free_bytes: int, lock: AbstractContextManager[object] | None = None
    ) -> None:
        self.figures: dict[tuple[Task, tuple[str, bytes]], float] = {}
        self.searcher = searcher
        self.compiled: CompiledLoop = CompiledLoop(lock or nullcontext())
        self._free_bytes = free_bytes
        self._cache: dict[tuple[Any, ...], JudgedCandidates | None] = {}

    def get(self, task: Task, ranking: Ranking) -> JudgedCandidates | None:
        key = task, _candidates_key(ranking)
        if key not in self._cache:
            candidates = retrieve_candidates(self.searcher, task.query, ranking, task.filters, task.relevant)
            size = 0 if candidates is None else candidates.evidence.nbytes
            if size > self._free_bytes:
                return candidates
            self._free_bytes -= size
            self._cache[key] = candidates
        return self._cache[key]


class Workers:
    """Processes that compute figures. Each caches the candidates of its tasks.

    Raises EsrError if one dies. They end with the block; at once after an error or an interrupt.
    """

    def __init__(self, where: str, number: int) -> None:
        """`where` is the index, which each of the `number` processes opens."""
        self._opening = open_pools(number, 1, _open_index, where, SPAWN.Lock())
        self._stack = ExitStack()
        self._pool_of: dict[Task, ProcessPoolExecutor] = {}

    def __enter__(self) -> Workers:
        self._pools = self._stack.enter_context(self._opening)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.__exit__(kind, error, trace)

    def compute(
        self, tasks: Iterable[Task], objective: str, depth: int, settings: Sequence[Ranking]
    ) -> Iterator[tuple[Task, list[float]]]:
        """Yield the tasks, in any order, with the figures of the settings, of shape (settings,)."""
        running: dict[Future[list[float]], Task] = {}
        with defer_interrupt():
            for task in tasks:
                pool = self._pool_of.setdefault(task, self._pools[len(self._pool_of) % len(self._pools)])
                running[pool.submit(_compute_in_worker, task, objective, depth, settings)] = task
        with translate_death():
            for future in as_completed(running):
                yield running[future], future.result()


_caches: list[_Cache] = []
"""The cache of a worker process; empty in others."""


def _open_index(where: str, lock: AbstractContextManager[object]) -> None:
    end_with_parent()
    _caches.append(_Cache(open_searcher(where), MEMORY, lock))


def _compute_in_worker(task: Task, objective: str, depth: int, settings: Sequence[Ranking]) -> list[float]:
    (cache,) = _caches
    tuner = Tuner(cache.searcher, [task], objective, depth, cache=cache)
    figures: list[float] = tuner.compute_figures(settings)[:, 0].tolist()
    return figures


class TaskSet(NamedTuple):
    """The tasks, and the ids of the topics that have no task because they have no relevant sentence."""

    ready: list[Task]
    unjudged: list[str]


def build_tasks(
    topics: Iterable[Topic],
    qrels: Qrels,
    *,
    field: str = TITLE,
    restrict: Restrictions | str | Path | None = None,
) -> TaskSet:
    """One task per topic with a relevant sentence. Raises UsageError if there is none.

    `restrict`: the documents to search for each topic, or the value of an option, as in
    `choose_restrictions`; a topic without an entry finds nothing.
    """
    topics = list(topics)
    restrictions = restrict if isinstance(restrict, Mapping) else choose_restrictions(restrict, topics)
    ready, unjudged = [], []
    for topic in topics:
        relevant = tuple(s for s, grade in qrels.get(topic.id, {}).items() if grade > 0)
        if not relevant:
            unjudged.append(topic.id)
            continue
        filters = NO_FILTERS
        if restrictions is not None:
            # Ids are never empty, so ("",) excludes all documents.
            filters = Filters(documents=restrictions.get(topic.id, ("",)))
        ready.append(Task(topic.id, topic.query(field), relevant, filters))
    if not ready:
        raise UsageError("no topic has a sentence judged relevant: check that topics and judgements match")
    return TaskSet(ready, unjudged)
