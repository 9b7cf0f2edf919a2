"""The embedded engine: searches and reads an index in a folder, at one commit or always at the last."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from esr.errors import EsrError, IndexClosed, IndexMissing, IndexUnusable, NotFound, UsageError, to_one_line
from esr.folder.format import manifest
from esr.folder.format.files import size_on_disk
from esr.folder.format.manifest import Part, SegmentDamaged, parts_of, require_intact
from esr.folder.format.segment import DECODE_ERRORS
from esr.folder.format.snapshot import Snapshot
from esr.folder.search import vocabulary
from esr.folder.search.cache import SearchCache
from esr.folder.search.candidates import TopK, count_masked, mask_allowed, read_candidates, search_exhaustive
from esr.folder.search.kernel_loader import LOADER
from esr.folder.search.records import (
    Location,
    Locations,
    find_sentence,
    group_by_segment,
    locate,
    read_column,
    read_evidence,
    read_records,
    sentence_ids,
)
from esr.folder.search.similarity import (
    find_nearest,
    may_use_bits,
    prepare_bits,
    read_similarities,
    read_vectors,
)
from esr.index.contract import Index, LengthGroups, Result, Similarities, SimilarityRescoring
from esr.index.filters import (
    DayCounts,
    FacetCounts,
    Filters,
    NameUnit,
    ValueTable,
    resolve_condition,
    resolve_filters,
    resolve_plan,
)
from esr.index.hits import (
    EVIDENCE_COLUMNS,
    CandidateEvidence,
    Histogram,
    Hit,
    LazyHits,
    SearchResult,
    SentenceRecord,
    SentenceTexts,
    make_hits,
)
from esr.index.names import Name, name_key
from esr.locks import require_locks
from esr.plans.evaluate import Evidence, concatenate, no_evidence
from esr.plans.plan import FIELDS, Condition, Plan, Statistics, Unprunable
from esr.text.analyzer import get_analyzer
from esr.text.document import Document, QuantizedVector, Quote

require_locks()

if TYPE_CHECKING:
    from esr.folder.write.enrichment import EmbeddedEnrichment


class FolderSnapshot:
    """One opened commit of an index folder. It never changes, so a search and its filters agree."""

    def __init__(self, where: str, cache: SearchCache, closed: threading.Event) -> None:
        """`closed` is set when the index of this snapshot is closed."""
        self.where = where
        self.description = cache.snapshot.manifest.description
        self.analyzer = get_analyzer(self.description.analyzer)
        self._cache = cache
        self._closed = closed
        self._process = os.getpid()
        self._last_blamed = -_BLAME_SECONDS
        self._damage: SegmentDamaged | None = None
        """Damage found in its files after it was opened, or None. It then answers no more calls."""

    @property
    def cache(self) -> SearchCache:
        """The opened commit, and the cache of its searches. Raises IndexClosed or SegmentDamaged."""
        if self._closed.is_set():
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

    def snapshot(self) -> FolderSnapshot:
        return self

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
            if self._closed.is_set():
                return
            started = time.perf_counter()
            try:
                require_intact(folder, [part])
            except SegmentDamaged as damage:
                if _is_served(folder, part):  # otherwise a writer has deleted it
                    self._damage = damage
                    return
            if pause:
                time.sleep(time.perf_counter() - started)

    def on_latest(self, work: Callable[[Index], Result]) -> Result:
        return work(self.snapshot())

    def statistics(self, terms: Sequence[str], language: str | None = None) -> Statistics:
        statistics = self.cache.snapshot.statistics
        collection = statistics.collection if language is None else statistics.collection_in(language)
        return Statistics(collection, {term: statistics.find(term).statistics for term in terms})

    def languages(self) -> Mapping[str | None, int]:
        return self.cache.snapshot.statistics.languages

    def search(self, plan: Plan, k: int, filters: Filters, *, records: bool = True) -> SearchResult:
        cache = self.cache
        plan, filters = resolve_plan(self, plan), resolve_filters(self, filters)
        exhaustive = None
        answer: TopK | Unprunable = Unprunable(LOADER.reason)
        if LOADER.kernel is not None:
            # Imported here, since a search from the command line ends before the kernel is loaded.
            from esr.folder.search.pruned_search import search_pruned

            answer = search_pruned(LOADER.kernel, plan, cache, k, filters)
        if isinstance(answer, Unprunable):
            exhaustive = answer.reason
            with LOADER.count_time():
                best = search_exhaustive(plan, cache, k, filters)
        else:
            best = answer
        hits = _read_hits(cache, best, records)
        return SearchResult(hits, best.total, None, best.scored, exhaustive)

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

    def store_search_template(self, source: str) -> str:
        raise _takes_no_requests()

    def check_ready(self) -> None:
        if _commit_mark(self.where) is None:
            raise IndexMissing(f"there is no index at {self.where}: make one with esr load")
        self.statistics(())

    def warm_up(self) -> None:
        cache = (self.cache,)
        threading.Thread(target=_prepare_searches, args=cache, name="esr-kernel", daemon=True).start()

    def sentences(self, ids: Sequence[str]) -> list[SentenceRecord]:
        cache = self.cache
        bases = cache.snapshot.statistics.sentence_bases
        found = self._find(cache.snapshot, ids)
        ordinals = [bases[location.segment] + location.number for location in found]
        return read_records(cache.snapshot, cache.documents, ordinals)

    def evidence(
        self,
        terms: Sequence[str],
        ids: Sequence[str],
        columns: Iterable[str] = (),
        ordinals: Sequence[int] | None = None,
    ) -> Evidence:
        snapshot = self.cache.snapshot
        names = {*EVIDENCE_COLUMNS, *columns}
        if not ids:
            return no_evidence(len(terms), names)
        parts, order = [], []
        for owner, places, numbers in group_by_segment(self._locate(snapshot, ids, ordinals)):
            segment, importance = snapshot.segments[owner], snapshot.statistics.importance[owner]
            parts.append(read_evidence(terms, FIELDS, names, segment, importance, numbers))
            order.append(places)
        return concatenate(parts).take(np.argsort(np.concatenate(order)))

    def parses(self, ids: Sequence[str], ordinals: Sequence[int] | None = None) -> list[bytes | None]:
        snapshot = self.cache.snapshot
        parses: list[bytes | None] = [None] * len(ids)
        for owner, places, numbers in group_by_segment(self._locate(snapshot, ids, ordinals)):
            blobs = snapshot.segments[owner].enrichment.parses(numbers)
            for place, blob in zip(places.tolist(), blobs, strict=True):
                parses[place] = blob
        return parses

    def has_parses(self) -> bool:
        return self.cache.snapshot.has_parses

    def quotes(self, ids: Sequence[str], ordinals: Sequence[int] | None = None) -> list[tuple[Quote, ...]]:
        snapshot = self.cache.snapshot
        quotes: list[tuple[Quote, ...]] = [()] * len(ids)
        for owner, places, numbers in group_by_segment(self._locate(snapshot, ids, ordinals)):
            of_segment = snapshot.segments[owner].enrichment.quotes(numbers)
            for place, found in zip(places.tolist(), of_segment, strict=True):
                quotes[place] = found
        return quotes

    def encoder(self) -> str | None:
        return self.cache.snapshot.main_encoder

    def similarities(
        self,
        encoder: str,
        query: QuantizedVector,
        ids: Sequence[str],
        ordinals: Sequence[int] | None = None,
        contexts: Collection[str] = (),
    ) -> Similarities:
        snapshot = self.cache.snapshot
        locations = self._locate(snapshot, ids, ordinals)
        return read_similarities(snapshot, encoder, query, locations, contexts)

    def vectors(
        self, encoder: str, ids: Sequence[str], ordinals: Sequence[int] | None = None
    ) -> list[QuantizedVector | None]:
        snapshot = self.cache.snapshot
        return read_vectors(snapshot, encoder, self._locate(snapshot, ids, ordinals))

    def nearest_is_exact(self) -> bool:
        encoder = self.encoder()
        return encoder is None or not may_use_bits(self.cache, encoder)

    def nearest(
        self,
        encoder: str,
        query: QuantizedVector,
        k: int,
        condition: Condition | None,
        filters: Filters,
    ) -> list[Hit]:
        cache = self.cache
        resolved = None if condition is None else resolve_condition(self, condition)
        filters = resolve_filters(self, filters)
        ordinals, products = find_nearest(cache, encoder, query, k, mask_allowed(resolved, cache, filters))
        ids = sentence_ids(cache.snapshot, ordinals)
        return [
            Hit(id, product, None, ordinal)
            for id, product, ordinal in zip(ids, products.tolist(), ordinals.tolist(), strict=True)
        ]

    def facets(
        self, plan: Plan, filters_by_field: Mapping[str, Filters], size: int
    ) -> dict[str, FacetCounts]:
        from esr.folder.search.counts import count_facets  # a single search does without it

        resolved = {field: resolve_filters(self, filters) for field, filters in filters_by_field.items()}
        return count_facets(self.cache, resolve_plan(self, plan), resolved, size)

    def count(self, conditions: Sequence[Condition], filters: Filters) -> list[int]:
        cache, filters = self.cache, resolve_filters(self, filters)
        conditions = [resolve_condition(self, each) for each in conditions]
        if LOADER.kernel is None:
            return [count_masked(each, cache, filters) for each in conditions]
        from esr.folder.search.counts import count_sentences  # a single search does without it

        return count_sentences(LOADER.kernel, conditions, cache, filters)

    def count_names(
        self,
        filters: Filters,
        size: int,
        *,
        condition: Condition | None = None,
        unit: NameUnit = "sentences",
        prefix: str = "",
        keys: Collection[str] | None = None,
    ) -> dict[str, int]:
        from esr.folder.search.counts import count_names  # a single search does without it

        condition = condition and resolve_condition(self, condition)
        return count_names(
            self.cache, condition, resolve_filters(self, filters), size, unit, name_key(prefix), keys
        )

    def count_days(self, conditions: Sequence[Condition | None], filters: Filters) -> list[DayCounts]:
        from esr.folder.search.counts import count_days  # a single search does without it

        cache, resolved = self.cache, resolve_filters(self, filters)
        conditions = [each and resolve_condition(self, each) for each in conditions]
        return [count_days(each, cache, resolved) for each in conditions]

    def by_date(
        self,
        condition: Condition,
        k: int,
        filters: Filters,
        *,
        oldest_first: bool = False,
        records: bool = True,
    ) -> SearchResult:
        from esr.folder.search.counts import find_by_date  # a single search does without it

        cache = self.cache
        condition, filters = resolve_condition(self, condition), resolve_filters(self, filters)
        ordinals, total = find_by_date(condition, cache, k, filters, oldest_first)
        best = TopK(ordinals, np.zeros(len(ordinals)), total, 0)
        return SearchResult(_read_hits(cache, best, records), total)

    def texts(
        self, condition: Condition, k: int, filters: Filters, *, oldest_first: bool = False
    ) -> SentenceTexts:
        from esr.folder.search.counts import find_by_date, read_texts  # searches do without them

        cache = self.cache
        condition, filters = resolve_condition(self, condition), resolve_filters(self, filters)
        ordinals, total = find_by_date(condition, cache, k, filters, oldest_first)
        return read_texts(cache, ordinals, total)

    def count_holders(self, terms: Sequence[str]) -> Mapping[str, int]:
        return {term: of_term.sf for term, of_term in self.statistics(terms).terms.items()}

    def count_words(self, words: Sequence[str]) -> Mapping[str, int]:
        from esr.folder.search.counts import count_words  # searches do without it

        return count_words(words, self.cache)

    def count_terms(
        self, condition: Condition, filters: Filters, most: int, language: str | None = None
    ) -> Mapping[str, int]:
        from esr.folder.search.counts import count_terms

        cache = self.cache
        return count_terms(resolve_condition(self, condition), cache, resolve_filters(self, filters))

    def sum_lengths(
        self, by: LengthGroups, filters: Filters, condition: Condition | None = None
    ) -> Mapping[Any, int]:
        from esr.folder.search.counts import sum_lengths

        condition = condition and resolve_condition(self, condition)
        return sum_lengths(by, self.cache, resolve_filters(self, filters), condition)

    def values(self, field: str) -> ValueTable:
        return self.cache.values(field)

    def find_names(self, keys: Sequence[str]) -> Mapping[str, Name]:
        return self.cache.names.find(keys)

    def name_forms(self, key: str) -> dict[str, int]:
        return self.cache.names.forms(key)

    def full_names(self, key: str) -> Sequence[str]:
        return self.cache.names.full_names(key)

    def name_keys(self, prefix: str, limit: int) -> list[str]:
        return self.cache.names.keys(prefix, limit)

    def enrichment(self) -> AbstractContextManager[EmbeddedEnrichment]:
        from esr.folder.write.enrichment import enrichment

        return enrichment(Path(self.where))

    def candidates(self, plan: Plan, filters: Filters) -> CandidateEvidence:
        return read_candidates(self.cache, resolve_plan(self, plan), resolve_filters(self, filters))

    def terms_with_prefix(self, prefix: str, limit: int) -> list[str]:
        segments = self.cache.snapshot.segments
        return sorted({t for segment in segments for t in segment.terms.with_prefix(prefix, limit)})[:limit]

    def words_with_prefix(self, prefix: str, limit: int) -> list[tuple[str, int]]:
        return vocabulary.words_with_prefix(self.cache.snapshot.segments, prefix, limit)

    def similar_words(self, word: str, max_edits: int, least: int) -> Mapping[str, int]:
        cache = self.cache
        return vocabulary.similar_words(cache.snapshot.segments, cache.memory, word, max_edits, least)

    def written_forms(self, words: Sequence[str]) -> list[str]:
        return list(map(self.cache.word_usage.written_form, words))

    def features(self) -> Sequence[str]:
        return self.cache.snapshot.features

    def histogram(self, column: str) -> Histogram:
        snapshot = self.cache.snapshot
        columns = [
            read_column(column, segment, importance, np.arange(segment.sentence_count))
            for segment, importance in zip(snapshot.segments, snapshot.statistics.importance, strict=True)
        ]
        values = np.concatenate([np.zeros(0), *columns])
        return Histogram(*np.unique_counts(values[~np.isnan(values)]))

    def document(self, document_id: str) -> Document:
        found = self.find_documents([document_id])
        if not found:
            raise NotFound(f"there is no document {document_id!r} in {self.where}")
        return found[document_id]

    def find_documents(self, ids: Collection[str]) -> dict[str, Document]:
        found: dict[str, Document] = {}
        for segment in self.cache.snapshot.segments:
            numbers = ((id, segment.document_ids.find(id)) for id in ids if id not in found)
            found |= {id: segment.document(number) for id, number in numbers if number is not None}
        return found

    def documents(self) -> Iterator[Document]:
        self.cache.snapshot.require_intact()
        for segment in self.cache.snapshot.segments:
            yield from (segment.document(number) for number in range(segment.document_count))

    def documents_at(self, numbers: Sequence[int]) -> list[Document]:
        segments = self.cache.snapshot.segments
        ends = np.cumsum([segment.document_count for segment in segments])
        owners = np.searchsorted(ends, numbers, "right")
        return [
            segments[owner].document(int(number - (ends[owner - 1] if owner else 0)))
            for number, owner in zip(numbers, owners.tolist(), strict=True)
        ]

    def status(self) -> Mapping[str, Any]:
        from esr.folder.write.enrichment import count_unresolved, summarize_enrichment

        snapshot = self.cache.snapshot
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
            "enrichment": summarize_enrichment(snapshot),
            **({"unresolved_names": unresolved} if (unresolved := count_unresolved(snapshot)) else {}),
            **({} if self.nearest_is_exact() else {"vector_index": "bits"}),
            **self.description.as_dict(),
        }

    def close(self) -> None:
        self._closed.set()  # mapped files are closed with their last use

    def _locate(self, snapshot: Snapshot, ids: Sequence[str], ordinals: Sequence[int] | None) -> Locations:
        """Locate the sentences with these ids. Known ordinals make this much faster."""
        return Locations.of(self._find(snapshot, ids)) if ordinals is None else locate(snapshot, ordinals)

    def _find(self, snapshot: Snapshot, ids: Sequence[str]) -> list[Location]:
        """Find the sentences with these ids. Raises UsageError for an unknown id."""
        locations = []
        for id in ids:
            location = find_sentence(snapshot, id)
            if location is None:
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


def _blaming_damage(method: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a method so that its errors blame damaged files, if there are any."""

    @wraps(method)
    def call(snapshot: FolderSnapshot, /, *arguments: Any, **options: Any) -> Any:
        try:
            return method(snapshot, *arguments, **options)
        except EsrError:
            raise
        except Exception as error:
            snapshot._blame_damage(error)
            raise

    return call


for _name, _method in [*vars(FolderSnapshot).items()]:
    if callable(_method) and _name[0] != "_" and _name != "on_latest":
        setattr(FolderSnapshot, _name, _blaming_damage(_method))


_BLAME_SECONDS = 60.0
"""Minimum time between two errors that make a snapshot read all its files, in seconds."""


def _examine_apart(snapshot: FolderSnapshot, parts: Iterable[Part]) -> None:
    """Read files of a commit in a new thread."""
    threading.Thread(target=snapshot._examine, args=(parts, True), name="esr-examine", daemon=True).start()


def _is_served(folder: Path, part: Part) -> bool:
    """Whether the last commit includes a segment or layer."""
    try:
        return part in parts_of(manifest.read_any_format(folder))
    except EsrError:
        return False


def _prepare_searches(cache: SearchCache) -> None:
    LOADER.load(apart=True)  # until then, searches score every candidate
    if cache.snapshot.main_encoder is not None:
        prepare_bits(cache, cache.snapshot.main_encoder)


class EmbeddedIndex(FolderSnapshot):
    """An index in a folder. Each call uses the last commit at that time."""

    def __init__(self, where: str) -> None:
        """Open the last commit. Raises IndexMissing or IndexUnusable."""
        self.where = where
        self._closed = threading.Event()
        self._is_warm = False
        mark = _commit_mark(where)
        self._use(SearchCache(_open(where)), mark)

    def snapshot(self) -> FolderSnapshot:
        """The last commit, which is opened if it is new. Raises IndexClosed."""
        snapshot, opened = self._opened
        before, mark = snapshot._opened_cache, _commit_mark(self.where)
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
        return self.snapshot().cache

    def _use(self, cache: SearchCache, mark: tuple[int, int] | None) -> FolderSnapshot:
        """Switch to a commit, and return it.

        `mark` was read before the commit. If another commit came in between, the next call opens that one.
        """
        snapshot = FolderSnapshot(self.where, cache, self._closed)
        # One assignment: another thread may open another commit at the same time.
        self._opened = snapshot, mark
        self.description, self.analyzer = snapshot.description, snapshot.analyzer
        return snapshot


def _delegate(name: str) -> Callable[..., Any]:
    """A method of EmbeddedIndex that calls the method of the same name on the last commit."""

    @wraps(getattr(FolderSnapshot, name))
    def call(index: EmbeddedIndex, /, *arguments: Any, **options: Any) -> Any:
        return getattr(index.snapshot(), name)(*arguments, **options)

    return call


for _name in [name for name in vars(FolderSnapshot) if name[0] != "_"]:
    if _name not in vars(EmbeddedIndex) and _name not in ("check_ready", "close", "enrichment", "on_latest"):
        setattr(EmbeddedIndex, _name, _delegate(_name))


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


def _open(where: str, before: Snapshot | None = None) -> Snapshot:
    """Open the last commit. Segments and layers that `before` has open are reused."""
    folder = Path(where)
    while True:
        last = manifest.read_manifest(folder)
        try:
            return Snapshot(folder, last, before)
        except SegmentDamaged:
            # A writer may have replaced the commit and deleted the old files between the two steps.
            if manifest.read_manifest(folder) == last:
                raise
