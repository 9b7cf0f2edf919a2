"""The embedded engine: searches and reads an index in a folder, at one commit or always at the last."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from msgspec.structs import asdict

from esr.errors import EsrError, IndexClosed, IndexMissing, IndexUnusable, NotFound, UsageError, to_one_line
from esr.folder.format import manifest
from esr.folder.format.damage import Part, SegmentDamaged, parts_of, require_intact
from esr.folder.format.files import size_on_disk
from esr.folder.format.manifest import SEGMENTS, Manifest, period_of_segment
from esr.folder.format.segment import DECODE_ERRORS
from esr.folder.format.snapshot import NO_DAMAGE, Lost, Snapshot, summarize_periods
from esr.folder.search.answers import look_up, read, read_fact
from esr.folder.search.cache import SearchCache
from esr.folder.search.candidates import TopK, count_masked, mask_allowed, read_candidates, search_exhaustive
from esr.folder.search.kernel_loader import LOADER
from esr.folder.search.records import (
    Location,
    Locations,
    documents_at,
    find_documents,
    find_sentence,
    locate,
    read_records,
    sentence_ids,
)
from esr.index.contract import Index, Result
from esr.index.filters import (
    NO_FILTERS,
    Filters,
    resolve_by_field,
    resolve_condition,
    resolve_filters,
    resolve_plan,
)
from esr.index.hits import CandidateEvidence, Hit, LazyHits, SearchResult, make_hits
from esr.index.questions import (
    Answer,
    ByField,
    Column,
    DocumentMarks,
    DocumentsBefore,
    Fact,
    Grouping,
    Hits,
    Lookup,
    NearestIsExact,
    Readiness,
    Selection,
    Summary,
)
from esr.index.similarities import SimilarityRescoring
from esr.index.writer import Description
from esr.locks import require_locks
from esr.plans.plan import Condition, Plan, Statistics, Unprunable
from esr.stdlib import import_lazily
from esr.text.analyzer import Analyzer, get_analyzer
from esr.text.document import Document
from esr.text.periods import UNDATED, may_hold
from esr.text.sentence_enrichment import QuantizedVector
from esr.threads import start_thread

if TYPE_CHECKING:
    from esr.folder.search import counts, pruned_search, similarity
    from esr.folder.write import enrichment as stored_enrichment
    from esr.folder.write.enrichment import EmbeddedEnrichment
else:
    similarity = import_lazily("esr.folder.search.similarity")
    counts = import_lazily("esr.folder.search.counts")
    stored_enrichment = import_lazily("esr.folder.write.enrichment")
    pruned_search = import_lazily("esr.folder.search.pruned_search")

require_locks()


class _Lifetime:
    """Whether an index has been closed. Its snapshots, which threads may be using, share this."""

    is_over = False


class FolderSnapshot(Index):
    """One opened commit of an index folder. It never changes, so a search and its filters agree."""

    def __init__(self, where: str, cache: SearchCache, lifetime: _Lifetime) -> None:
        """`lifetime` is that of the index of this snapshot."""
        self.where = where
        self.description: Description = cache.snapshot.manifest.description
        self.analyzer: Analyzer = get_analyzer(self.description.analyzer)
        self._cache = cache
        self._lifetime = lifetime
        self._process = os.getpid()
        self._last_blamed = -_BLAME_SECONDS
        self._damage: SegmentDamaged | None = None

    @property
    def cache(self) -> SearchCache:
        """The opened commit, and the cache of its searches. Raises IndexClosed or SegmentDamaged."""
        if self._lifetime.is_over:
            raise IndexClosed(self.where)
        if self._damage is not None:
            raise self._damage
        return self._opened_cache

    @property
    def _opened_cache(self) -> SearchCache:
        """The opened commit, even if it is damaged."""
        if self._process != os.getpid():
            # At the fork, another thread of the parent process may have held the locks of the caches.
            self._cache, self._process = SearchCache(self._cache.snapshot), os.getpid()
        return self._cache

    @contextmanager
    def _reading(self) -> Iterator[SearchCache]:
        """Open the commit and its cache for a call. Errors blame damaged files, if there are any."""
        try:
            yield self.cache
        except EsrError:
            raise
        except Exception as error:
            self._blame_damage(error)
            raise

    @property
    def lacks(self) -> str | None:
        """What searches of a divided index lack, None if nothing."""
        lost = self._cache.snapshot.lost
        if not lost:
            return None
        periods = ", ".join(f"{period_of_segment(name)} ({SEGMENTS}/{name})" for name in lost)
        return f"the segment of {periods} is damaged or missing"

    @property
    def damage(self) -> SegmentDamaged | None:
        """Damage found in its files after it was opened, or None. It then answers no more calls."""
        return self._damage

    def _require(self, cache: SearchCache, filters: Filters = NO_FILTERS) -> None:
        """Raise SegmentDamaged if a segment is lost that may have had what the filters allow.

        Only searches can say that they are incomplete. Counts and lists cannot.
        """
        for name, damage in cache.snapshot.lost.items():
            if may_hold(period_of_segment(name) or UNDATED, filters.date_from, filters.date_to):
                raise SegmentDamaged(damage.path, damage.problem)

    def _blame_damage(self, error: Exception) -> None:
        """Raise SegmentDamaged, or IndexUnusable, if damaged files are the cause of an error."""
        parts = self._cache.snapshot.parts
        if time.monotonic() - self._last_blamed > _BLAME_SECONDS:
            self._examine(parts)
            self._last_blamed = time.monotonic()
        if self._damage is not None:
            raise self._damage from error
        if isinstance(error, (*DECODE_ERRORS, OverflowError)) and not all(part.check for part in parts):
            raise IndexUnusable(
                f"{self.where} cannot be read ({type(error).__name__}: {to_one_line(error)}). Its files have "
                "no checksums, but may be damaged: load everything again with --if-exists replace"
            ) from error

    def _examine(self, parts: Iterable[Part], pause: bool = False) -> None:
        """Read the files of these segments and layers, and note what is damaged.

        With `pause`, the thread sleeps half of the time.
        """
        folder = self._cache.snapshot.folder
        for part in parts:
            if self._lifetime.is_over:
                return
            started = time.perf_counter()
            try:
                require_intact(folder, [part])
            except SegmentDamaged as damage:
                if _is_served(folder, part):  # otherwise a writer has deleted it
                    self._damage = damage
                    return
            except IndexUnusable:
                return  # no file may be opened at present, which is no damage
            if pause:
                time.sleep(time.perf_counter() - started)

    def snapshot(self) -> FolderSnapshot:
        return self

    def on_latest(self, work: Callable[[Index], Result]) -> Result:
        return work(self)

    def warm_up(self) -> None:
        start_thread(_prepare_searches, self.cache, name="esr-kernel")

    def status(self, fact: Fact[Answer]) -> Answer:
        with self._reading() as cache:
            answer: Answer
            match fact:
                case Summary():
                    answer = self._summarize(cache)
                case Readiness():
                    answer = self._check_ready()
                case DocumentMarks():
                    self._require(cache)
                    answer = read_fact(cache, fact)
                case DocumentsBefore(moment):
                    self._require(cache, Filters(date_to=moment - 1))
                    answer = read_fact(cache, fact)
                case _:
                    answer = read_fact(cache, fact)
            return answer

    def _check_ready(self) -> Any:
        if _commit_mark(self.where) is None:
            raise IndexMissing(f"there is no index at {self.where}: make one with esr load")

    def _summarize(self, cache: SearchCache) -> Any:
        snapshot = cache.snapshot
        size = sum(size_on_disk(segment.folder) for segment in snapshot.segments)
        collection = snapshot.statistics.collection
        return {
            "engine": "embedded",
            "where": self.where,
            "documents": collection.documents,
            "sentences": collection.sentences,
            "occurrences": collection.occurrences,
            "size_bytes": size + sum(layer.size_bytes for layer in snapshot.layers.values()),
            "segments": len(snapshot.segments),
            "generation": snapshot.manifest.commit_number,
            "enrichment": stored_enrichment.summarize_enrichment(snapshot),
            **(
                {"unresolved_names": unresolved}
                if (unresolved := stored_enrichment.count_unresolved(snapshot))
                else {}
            ),
            **({} if read_fact(cache, NearestIsExact()) else {"vector_index": "bits"}),
            **self.description.as_dict(),
            **({} if self.lacks is None else {"incomplete": self.lacks}),
            **({"periods": list(map(asdict, periods))} if (periods := summarize_periods(snapshot)) else {}),
        }

    def statistics(self, terms: Sequence[str], language: str | None = None) -> Statistics:
        with self._reading() as cache:
            statistics = cache.snapshot.statistics
            collection = statistics.collection if language is None else statistics.collection_in(language)
            return Statistics(collection, {term: statistics.find(term).statistics for term in terms})

    def vocabulary(self, lookup: Lookup[Answer]) -> Answer:
        with self._reading() as cache:
            answer: Answer = look_up(cache, lookup)
            return answer

    def search(self, plan: Plan, k: int, filters: Filters, *, records: bool = True) -> SearchResult:
        with self._reading() as cache:
            plan, filters = resolve_plan(self, plan), resolve_filters(self, filters)
            exhaustive = None
            answer: TopK | Unprunable = Unprunable(LOADER.reason)
            if LOADER.kernel is not None:
                # Imported here, since a search from the command line ends before the kernel is loaded.

                answer = pruned_search.search_pruned(LOADER.kernel, plan, cache, k, filters)
            if isinstance(answer, Unprunable):
                exhaustive = answer.reason
                with LOADER.count_time():
                    best = search_exhaustive(plan, cache, k, filters)
            else:
                best = answer
            hits = _read_hits(cache, best, records)
            return SearchResult(hits, best.total, self.lacks, best.scored, exhaustive)

    def request(
        self,
        plan: Plan,
        k: int,
        filters: Filters,
        *,
        standalone: bool = False,
        rescoring: SimilarityRescoring | None = None,
    ) -> dict[str, Any]:
        raise _takes_no_requests()

    def candidates(self, plan: Plan, filters: Filters) -> CandidateEvidence:
        with self._reading() as cache:
            self._require(cache, filters)
            return read_candidates(cache, resolve_plan(self, plan), resolve_filters(self, filters))

    def select(
        self,
        condition: Condition,
        k: int,
        filters: Filters,
        selection: Selection[Answer],
        *,
        oldest_first: bool = False,
    ) -> Answer:
        with self._reading() as cache:
            self._require(cache, filters)
            condition, filters = resolve_condition(self, condition), resolve_filters(self, filters)
            ordinals, total = counts.find_by_date(condition, cache, k, filters, oldest_first)
            answer: Any
            if isinstance(selection, Hits):
                best = TopK(ordinals, np.zeros(len(ordinals)), total, 0)
                answer = SearchResult(_read_hits(cache, best, selection.records), total)
            else:
                answer = counts.read_texts(cache, ordinals, total)
            selected: Answer = answer
            return selected

    def nearest(
        self,
        encoder: str,
        query: QuantizedVector,
        k: int,
        condition: Condition | None,
        filters: Filters,
    ) -> list[Hit]:
        with self._reading() as cache:
            resolved = None if condition is None else resolve_condition(self, condition)
            allowed = mask_allowed(resolved, cache, resolve_filters(self, filters))
            ordinals, products = similarity.find_nearest(cache, encoder, query, k, allowed)
            ids = sentence_ids(cache.snapshot, ordinals)
            return [
                Hit(id, product, None, ordinal)
                for id, product, ordinal in zip(ids, products.tolist(), ordinals.tolist(), strict=True)
            ]

    @overload
    def count(self, conditions: Sequence[Condition | None], filters: Filters) -> list[int]: ...
    @overload
    def count(
        self, conditions: Sequence[Condition | None], filters: Filters, by: Grouping[Answer]
    ) -> list[Answer]: ...
    def count(
        self, conditions: Sequence[Condition | None], filters: Filters, by: Grouping[Any] | None = None
    ) -> list[Any]:
        with self._reading() as cache:
            resolved = [condition and resolve_condition(self, condition) for condition in conditions]
            if isinstance(by, ByField):
                by_field = resolve_by_field(self, filters, by)
                for of_field in by_field.values():
                    self._require(cache, of_field)
                return [counts.count_facets(cache, condition, by_field, by.size) for condition in resolved]
            filters = resolve_filters(self, filters)
            self._require(cache, filters)
            if by is not None:
                return [counts.count_groups(cache, by, condition, filters) for condition in resolved]
            if LOADER.kernel is None:
                return [count_masked(condition, cache, filters) for condition in resolved]

            return counts.count_sentences(LOADER.kernel, resolved, cache, filters)

    def read(
        self, ids: Sequence[str], column: Column[Answer], ordinals: Sequence[int] | None = None
    ) -> Answer:
        with self._reading() as cache:
            snapshot = cache.snapshot
            if ordinals is None:
                locations = Locations.of(self._find(cache, ids))
            else:
                locations = locate(snapshot, ordinals)
            answer: Answer = read(cache, column, locations)
            return answer

    def documents(
        self, ids: Collection[str] | None = None, *, positions: Sequence[int] | None = None
    ) -> Iterable[Document]:
        with self._reading() as cache:
            segments = cache.snapshot.segments
            if ids is not None:
                documents = find_documents(segments, ids)
                if len(documents) < len({*ids}):
                    self._require(cache)
                return documents
            self._require(cache)
            if positions is not None:
                return documents_at(segments, positions)
            cache.snapshot.require_intact()
            return (
                segment.document(number) for segment in segments for number in range(segment.document_count)
            )

    def enrichment(self) -> AbstractContextManager[EmbeddedEnrichment]:
        return stored_enrichment.enrichment(Path(self.where))

    def close(self) -> None:
        self._lifetime.is_over = True  # mapped files are closed with their last use

    def _find(self, cache: SearchCache, ids: Sequence[str]) -> list[Location]:
        """Find the sentences with these ids. Raises UsageError for an unknown id."""
        locations = []
        for id in ids:
            location = find_sentence(cache.snapshot, id)
            if location is None:
                self._require(cache)
                raise NotFound(f"there is no sentence {id!r} in {self.where}")
            locations.append(location)
        return locations


def _read_hits(cache: SearchCache, best: TopK, records: bool) -> Sequence[Hit]:
    """The hits of these sentences, with their records or only their ids."""
    snapshot = cache.snapshot
    if not records:
        return LazyHits(best.ordinals, best.scores, lambda n: sentence_ids(snapshot, best.ordinals[n]))
    ordinals = best.ordinals.tolist()
    entries = read_records(snapshot, cache.documents, ordinals)
    return make_hits([entry.sentence_id for entry in entries], best.scores.tolist(), entries, ordinals)


_BLAME_SECONDS = 60.0
"""Minimum time between two errors that make a snapshot read all its files, in seconds."""


def _examine_apart(snapshot: FolderSnapshot, parts: Iterable[Part]) -> None:
    """Read files of a commit in a new thread."""
    start_thread(snapshot._examine, parts, True, name="esr-examine")


def _is_served(folder: Path, part: Part) -> bool:
    """Whether the last commit includes a segment or layer."""
    try:
        return part in parts_of(manifest.read_any_format(folder))
    except EsrError:
        return False


def _prepare_searches(cache: SearchCache) -> None:
    LOADER.load(apart=True)  # until then, searches score every candidate
    if cache.snapshot.main_encoder is not None:
        similarity.prepare_bits(cache, cache.snapshot.main_encoder)


class EmbeddedIndex(Index):
    """An index in a folder. Each call uses the last commit at that time."""

    def __init__(self, where: str) -> None:
        """Open the last commit. Raises IndexMissing or IndexUnusable."""
        self.where = where
        self._lifetime = _Lifetime()
        self._is_warm = False
        mark = _commit_mark(where)
        self._use(SearchCache(_open(where)), mark)

    def snapshot(self) -> FolderSnapshot:
        """The last commit, which is opened if it is new. Raises IndexClosed."""
        snapshot, opened = self._opened
        before, mark = snapshot._opened_cache, _commit_mark(self.where)
        if snapshot.damage is not None and mark == opened:
            folder, commit, lost = Path(self.where), before.snapshot.manifest, before.snapshot.lost
            remaining = _leave_out(folder, commit, lost, snapshot.damage)
            if remaining is not None:
                return self._use(SearchCache(_open(self.where, before.snapshot, remaining), before), mark)
        # If the folder was removed, mapped files are still readable.
        if mark is not None and mark != opened:
            snapshot = self._use(SearchCache(_open(self.where, before.snapshot), before), mark)
            if self._is_warm:
                known = frozenset(before.snapshot.parts)
                _examine_apart(
                    snapshot, [part for part in snapshot.cache.snapshot.parts if part not in known]
                )
        return snapshot

    def warm_up(self) -> None:
        snapshot = self.snapshot()
        snapshot.warm_up()
        self._is_warm = True
        _examine_apart(snapshot, snapshot.cache.snapshot.parts)

    @property
    def cache(self) -> SearchCache:
        """The last commit, and the cache of its searches."""
        return self.snapshot().cache

    def on_latest(self, work: Callable[[Index], Result]) -> Result:
        return work(self.snapshot())

    def status(self, fact: Fact[Answer]) -> Answer:
        return self.snapshot().status(fact)

    def statistics(self, terms: Sequence[str], language: str | None = None) -> Statistics:
        return self.snapshot().statistics(terms, language)

    def vocabulary(self, lookup: Lookup[Answer]) -> Answer:
        return self.snapshot().vocabulary(lookup)

    def search(self, plan: Plan, k: int, filters: Filters, *, records: bool = True) -> SearchResult:
        return self.snapshot().search(plan, k, filters, records=records)

    def request(
        self,
        plan: Plan,
        k: int,
        filters: Filters,
        *,
        standalone: bool = False,
        rescoring: SimilarityRescoring | None = None,
    ) -> dict[str, Any]:
        raise _takes_no_requests()

    def candidates(self, plan: Plan, filters: Filters) -> CandidateEvidence:
        return self.snapshot().candidates(plan, filters)

    def select(
        self,
        condition: Condition,
        k: int,
        filters: Filters,
        selection: Selection[Answer],
        *,
        oldest_first: bool = False,
    ) -> Answer:
        return self.snapshot().select(condition, k, filters, selection, oldest_first=oldest_first)

    def nearest(
        self, encoder: str, query: QuantizedVector, k: int, condition: Condition | None, filters: Filters
    ) -> list[Hit]:
        return self.snapshot().nearest(encoder, query, k, condition, filters)

    @overload
    def count(self, conditions: Sequence[Condition | None], filters: Filters) -> list[int]: ...
    @overload
    def count(
        self, conditions: Sequence[Condition | None], filters: Filters, by: Grouping[Answer]
    ) -> list[Answer]: ...
    def count(
        self, conditions: Sequence[Condition | None], filters: Filters, by: Grouping[Any] | None = None
    ) -> list[Any]:
        snapshot = self.snapshot()
        return snapshot.count(conditions, filters) if by is None else snapshot.count(conditions, filters, by)

    def read(
        self, ids: Sequence[str], column: Column[Answer], ordinals: Sequence[int] | None = None
    ) -> Answer:
        return self.snapshot().read(ids, column, ordinals)

    def documents(
        self, ids: Collection[str] | None = None, *, positions: Sequence[int] | None = None
    ) -> Iterable[Document]:
        return self.snapshot().documents(ids, positions=positions)

    def enrichment(self) -> AbstractContextManager[EmbeddedEnrichment]:
        return self.snapshot().enrichment()

    def close(self) -> None:
        self._lifetime.is_over = True

    def _use(self, cache: SearchCache, mark: tuple[int, int] | None) -> FolderSnapshot:
        """Switch to a commit, and return it.

        `mark` was read before the commit. If another commit came in between, the next call opens that one.
        """
        snapshot = FolderSnapshot(self.where, cache, self._lifetime)
        # One assignment: another thread may open another commit at the same time.
        self._opened = snapshot, mark
        self.description: Description = snapshot.description
        self.analyzer: Analyzer = snapshot.analyzer
        return snapshot


def _takes_no_requests() -> UsageError:
    return UsageError(
        "an index folder takes no requests: only http(s)://host:port/alias of Elasticsearch does"
    )


def _commit_mark(where: str) -> tuple[int, int] | None:
    """A value that changes with every commit, None if the index no longer exists."""
    try:
        status = os.stat(os.path.join(where, manifest.MANIFEST_NAME))
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns


def _open(where: str, before: Snapshot | None = None, lost: Lost = NO_DAMAGE) -> Snapshot:
    """Open the last commit. Segments and layers that `before` has open are reused.

    Damaged segments of a divided index are left out; `lost` are those that are known. Raises SegmentDamaged.
    """
    folder = Path(where)
    last = manifest.read_manifest(folder)
    while True:
        commit = last.without_segments(lost)
        try:
            return Snapshot(folder, commit, before, lost)
        except SegmentDamaged as damage:
            # A writer may have replaced the commit and deleted the old files between the two steps.
            now = manifest.read_manifest(folder)
            remaining = NO_DAMAGE if now != last else _leave_out(folder, commit, lost, damage)
            if remaining is None:
                raise
            last, lost = now, remaining


def _leave_out(folder: Path, commit: Manifest, lost: Lost, damage: SegmentDamaged) -> Lost | None:
    """`lost`, and the segment of a divided index that is damaged; None if no other one could answer."""
    name = commit.segment_of(damage.path.relative_to(folder))
    if name is None or period_of_segment(name) is None or len(commit.segments) == 1:
        return None
    return {**lost, name: damage}
