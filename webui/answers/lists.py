"""Lists of sentences for a request: ranked, newest, new, similar or in context; its timeline and its facets.

Hits become entries: repeats are folded, and neighbours joined into passages or sentences grouped by document.
The first n entries do not depend on how many are requested, so "Show more" moves nothing.

Hits of the API have the fields that a request asks for. Matches, metadata, links and windows are added only
on request. Metadata, and windows of more than one sentence, read the documents of the hits.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import urlencode

from flask import url_for
from msgspec.structs import replace

from esr.corpus.concordance import Concordance, build_concordance
from esr.following.atom import text_digest
from esr.following.newest import add_scores, find_newest
from esr.following.novelty import NovelAnswer, find_novel
from esr.following.passages import hits_to_fold, list_passages
from esr.following.similar import prepare_similar, search_similar
from esr.following.timeline import PEAKS, Timeline, build_timeline
from esr.index.contract import Index, find_documents
from esr.index.filters import FACET_FIELDS, NO_FILTERS, Filters
from esr.index.hits import Hit, SentenceRecord
from esr.index.questions import ByField, Hits, MainEncoder, Records
from esr.plans.plan import Condition
from esr.ranking.answers import PASSAGE_FIELDS, Passage, hit_dict, passage_fields, require_record, single
from esr.ranking.prepared_query import Answer, PreparedQuery
from esr.ranking.searcher import Searcher
from esr.stdlib import batched
from esr.text.attributes import META_PREFIX
from esr.text.document import Document
from esr.text.term_spans import find_spans
from webui.arguments.form import path_to
from webui.arguments.request import (
    Arguments,
    Arrangement,
    HitShape,
    SearchRequest,
    SimilarRequest,
    TimelineRequest,
    check_query,
)
from webui.running.problems import blame_argument, look_up
from webui.running.settings import Settings
from webui.running.telemetry import record_search

# Passages and documents


@dataclass(frozen=True)
class Entry:
    """A numbered item of the list: a passage, or the sentences of a document, best first."""

    passages: tuple[Passage, ...]

    @property
    def best(self) -> Hit:
        return self.passages[0].best


def hits_to_fetch(arrangement: Arrangement, k: int, max_k: int) -> int:
    """The number of hits to fetch for k entries. It is constant for grouping, so that entries do not move."""
    if arrangement.group:
        return 2 * max_k
    return hits_to_fold(k) if (arrangement.fold or arrangement.joins) and not arrangement.novel else k


def arrange_hits(
    hits: Sequence[Hit], arrangement: Arrangement, prepared: PreparedQuery, filters: Filters = NO_FILTERS
) -> list[Passage]:
    """The hits as passages, folded and joined as the arrangement says."""
    overlap = arrangement.overlap if arrangement.fold else None
    return list_passages(prepared, hits, filters, overlap=overlap, joins=arrangement.joins)


def build_entries(passages: Iterable[Passage], arrangement: Arrangement) -> list[Entry]:
    """All entries, in the order of the list."""
    if arrangement.group:
        by_document: dict[str, list[Passage]] = {}
        for passage in passages:
            by_document.setdefault(require_record(passage.best).document_id, []).append(passage)
        return [Entry(tuple(group)) for group in by_document.values()]
    return [Entry((passage,)) for passage in passages]


# Ranking

_GROWTH = 4


class RankedAnswer(NamedTuple):
    """An answer and its prepared query."""

    answer: Answer
    prepared: PreparedQuery


class ArrangedAnswer(NamedTuple):
    """An answer, the entries of all its hits, and whether there are more than k."""

    answer: Answer
    entries: list[Entry]
    has_more: bool


def rank_sentences(searcher: Searcher, search: SearchRequest, k: int, settings: Settings) -> RankedAnswer:
    """The first k sentences for a search. Raises a RequestError that names the argument at fault."""
    prepared = prepare_search(searcher, search, settings)
    with blame_argument(None):
        is_novel = search.arrangement.novel
        answer = _find_novel(prepared, search, k).answer if is_novel else _find_hits(prepared, search, k)
    record_search(search.query, answer.total)
    return RankedAnswer(answer, prepared)


def rank_and_arrange(
    prepared: PreparedQuery, search: SearchRequest, k: int, settings: Settings
) -> ArrangedAnswer:
    """The hits of the first k entries, up to the depth of pages, arranged as requested. Raises RequestError.

    `prepared`: the result of `prepare_search`.
    """
    arrangement = search.arrangement
    with blame_argument(None):
        if arrangement.novel:
            # One extra hit shows whether there are more.
            novel = _find_novel(prepared, search, hits_to_fetch(arrangement, k, settings.max_k) + 1)
            answer = novel.answer
            repeats = novel.repeats if arrangement.fold else {}
            passages = single([hit, *repeats.get(hit.sentence_id, ())] for hit in answer.hits)
        else:
            answer, passages = _fill_list(prepared, search, k, settings)
        has_more = len(entries := build_entries(passages, arrangement)) > k
        if not (has_more or arrangement.group or arrangement.novel) and answer.total > len(answer.hits):
            # The list is short if hits repeat others or do not answer the query. More entries may follow.
            further = min(k + settings.max_k, settings.max_depth)
            has_more = len(entries) == k or (
                arrangement.joins and len(_fill_list(prepared, search, further, settings)[1]) > len(entries)
            )
    record_search(search.query, answer.total)
    return ArrangedAnswer(answer, entries, has_more)


def _fill_list(
    prepared: PreparedQuery, search: SearchRequest, k: int, settings: Settings
) -> tuple[Answer, list[Passage]]:
    """The hits of k entries, and their passages: fewer than k if most hits are folded."""
    arrangement = search.arrangement
    count = hits_to_fetch(arrangement, k, settings.max_k)
    most = _GROWTH * hits_to_fold(k) if arrangement.joins else hits_to_fold(settings.max_depth)
    while True:
        answer = _find_hits(prepared, search, count)
        passages = arrange_hits(answer.hits, arrangement, prepared, search.filters)
        is_filled = arrangement.group or len(passages) >= min(k, answer.total)
        if is_filled or len(answer.hits) < count or count >= most:
            return answer, passages
        count *= _GROWTH  # most hits repeat others or are neighbours of them


class Listing(NamedTuple):
    """The hits of a file, read in batches; their number; what is missing; how many sentences match."""

    hits: Iterator[Hit]
    prepared: PreparedQuery
    incomplete: str | None
    total: int


_BATCH = 1_000
"""Sentences of a file read at a time."""


def list_hits(searcher: Searcher, search: SearchRequest, settings: Settings, is_all: bool) -> Listing:
    """The hits of a file: up to a limit those of the page, beyond it all sentences in order, unfolded.
    `is_all`: the search is for all sentences that match, up to its `k`. Raises RequestError.
    """
    arrangement = replace(search.arrangement, passages=False)
    search = replace(search, arrangement=arrangement)
    listed = settings.max_k if arrangement.group else settings.max_depth
    prepared = prepare_search(searcher, search, settings)
    if arrangement.novel or (search.k <= listed and not is_all):
        answer, entries, _ = rank_and_arrange(prepared, search, search.k, settings)
        best = (each.best for entry in entries[: search.k] for each in entry.passages)
        return Listing(best, prepared, answer.incomplete, answer.total)
    with blame_argument(None):
        if arrangement.sort == "date":
            result = prepared.index.select(prepared.all_words, search.k, search.filters, Hits(records=False))
            hits = _read_records(prepared, result.hits, is_scored=False)
            incomplete, total = result.incomplete, result.total
        else:
            answer = prepared.search(search.k, search.filters, records=False)
            hits = _read_records(prepared, answer.hits)
            incomplete, total = answer.incomplete, answer.total
    if is_all and total > search.k:
        incomplete = incomplete or f"only the first {search.k:,} of {total:,} sentences"
    return Listing(hits, prepared, incomplete, total)


def _read_records(prepared: PreparedQuery, hits: Sequence[Hit], is_scored: bool = True) -> Iterator[Hit]:
    for batch in batched(hits, _BATCH):
        scored = batch if is_scored else add_scores(prepared, batch)
        records = prepared.index.read([hit.sentence_id for hit in batch], Records())
        yield from (hit._replace(record=record) for hit, record in zip(scored, records, strict=True))


SERVED_SENTENCES = 20_000
"""Maximum sentences that a request for words in context reads, so that it does not delay others."""


def list_occurrences(
    searcher: Searcher, search: SearchRequest, arguments: Arguments, settings: Settings, k: int
) -> Concordance:
    """The first k occurrences of the words of a search, sorted and cut as its arguments say.

    Raises RequestError.
    """
    check_query(searcher, search.parsed, settings)
    with blame_argument(None):
        shape = {name: arguments.value(name) for name in ("sort", "width", "unit", "sample", "seed")}
        return build_concordance(searcher, search.parsed, search.filters, most=SERVED_SENTENCES, k=k, **shape)


def prepare_search(searcher: Searcher, search: SearchRequest, settings: Settings) -> PreparedQuery:
    """Plan a search. Raises a RequestError that names the argument at fault."""
    started = time.perf_counter()
    with blame_argument("query_language"):
        searcher = searcher.for_query(search.parsed)
    interpretation = check_query(searcher, search.parsed, settings)
    if search.require_all:
        interpretation = searcher.interpret(search.parsed, require_all=True)
    with blame_argument("feature"):
        searcher.check_features(feature.feature for feature in search.ranking.features)
    with blame_argument(None):
        return searcher.prepare_interpretation(interpretation, search.ranking_on(searcher), started)


def _find_hits(prepared: PreparedQuery, search: SearchRequest, k: int) -> Answer:
    if search.arrangement.sort == "date":
        return find_newest(prepared, k, search.filters)
    return prepared.search(k, search.filters)


def _find_novel(prepared: PreparedQuery, search: SearchRequest, k: int) -> NovelAnswer:
    return find_novel(prepared, k, search.filters, threshold=search.arrangement.overlap)


# Similar sentences


@dataclass(frozen=True)
class SimilarSentences:
    """Sentences similar to `record`.

    `terms`: the terms of the sentence that were searched for. `has_own`: whether sentences of the same
    document are included. `has_vectors`: whether the index has vectors.
    """

    record: SentenceRecord
    search: SearchRequest
    index: Index
    answer: Answer
    terms: Collection[str]
    has_own: bool
    has_vectors: bool


def find_similar(searcher: Searcher, request: SimilarRequest) -> SimilarSentences:
    """The sentences similar to one. Raises RequestError for a bad argument, UnknownId for an unknown id."""
    search, sentence_id = request.search, request.sentence_id
    snapshot = searcher.snapshot()
    with look_up("sentence", sentence_id):
        (record,) = snapshot.index.read([sentence_id], Records())
    with blame_argument(None):
        prepared, document_id = prepare_similar(snapshot, sentence_id, search.ranking)
        left_out = None if request.own else document_id
        has_vectors = snapshot.index.status(MainEncoder()) is not None
        answer = search_similar(prepared, sentence_id, left_out, search.k, search.filters)
    return SimilarSentences(record, search, prepared.index, answer, prepared.counts, request.own, has_vectors)


# Timelines and facets


def make_timeline(
    searcher: Searcher, request: TimelineRequest, settings: Settings, peaks: int = PEAKS
) -> Timeline:
    """The timeline of a request, from one snapshot. Raises RequestError."""
    snapshot = searcher.snapshot()
    prepared = []
    for search in request.searches:
        check_query(snapshot, search.parsed, settings, "q" if search is request.search else "also")
        with blame_argument(None):
            prepared.append(search.prepare(snapshot))
    with blame_argument("interval"):
        return build_timeline(prepared, request.search.filters, request.interval, peaks)


@dataclass(frozen=True)
class ValueCounts:
    """The most frequent values of a field. `has_more`: whether there are others."""

    field: str
    values: Sequence[tuple[str, int]]
    has_more: bool


def count_values(
    index: Index,
    condition: Condition | None,
    filters: Filters,
    size: int,
    fields: Iterable[str] = FACET_FIELDS,
) -> list[ValueCounts]:
    """The most frequent values of each field. Raises EsrError if the engine gives no counts.

    Only sentences that satisfy the condition are counted; None is satisfied by none. A field is counted
    without its own filter, so that further values can be added to that filter.
    """
    if condition is None:
        return [ValueCounts(field, (), False) for field in fields]
    (counts,) = index.count([condition], filters, ByField([*fields], size + 1, without_own=True))
    return [ValueCounts(field, values[:size], len(values) > size) for field, values in counts.items()]


# Hits of the API

HitData = dict[str, Any]
_COUNTED = ("text", "previous", "next")
"""The fields whose characters count towards a budget, in addition to windows."""


def sentence_link(record: SentenceRecord, is_external: bool = False, index: str | None = None) -> str:
    """The address of a sentence by its document and a digest of its text, since a load may renumber it."""
    values = {"id": record.document_id, "says": text_digest(record.text), "index": index}
    query = urlencode({name: value for name, value in values.items() if value}, errors="replace")
    path = url_for("sentence", _external=True) if is_external else path_to("sentence")
    return f"{path}?{query}"


class HitWriter:
    """Writes the hits of an answer. `terms` are the terms to mark, `index_name` is that of links."""

    def __init__(self, index: Index, shape: HitShape, terms: Collection[str], index_name: str = "") -> None:
        self._index = index
        self._shape = shape
        self._terms = terms
        self._index_name = index_name
        self._documents: Mapping[str, Document] = {}

    def write_entries(
        self, entries: Iterable[Sequence[Passage]], is_list: bool = True
    ) -> list[list[HitData]]:
        """The hits of each entry, for as many entries as the budget allows, at least one.

        `is_list`: whether hits have the fields of `Passage`, if these are chosen.
        """
        entries = list(entries)
        if self._shape.reads_documents:
            hits = (hit for entry in entries for each in entry for hit in (*each.sentences, *each.similar))
            self._documents = find_documents(self._index, {require_record(hit).document_id for hit in hits})
        left = self._shape.budget
        written: list[list[HitData]] = []
        windows = []
        for entry in entries:
            data = [self._write(passage, is_list) for passage in entry]
            size = sum(map(_size, data))
            if left is not None and written and size > left:
                break
            left = None if left is None else left - size
            written.append(data)
            windows += [(hit, require_record(each.best)) for hit, each in zip(data, entry, strict=True)]
        if self._shape.window:
            self._add_windows(windows, left)
        return written

    def _write(self, passage: Passage, is_list: bool) -> HitData:
        data = self._write_hit(passage.best)
        chosen = self._shape.fields or frozenset(PASSAGE_FIELDS)
        if is_list and not chosen.isdisjoint(PASSAGE_FIELDS):
            added = passage_fields(passage, self._write_hit)
            data |= {name: added[name] for name in PASSAGE_FIELDS if name in chosen}
        return data

    def _write_hit(self, hit: Hit) -> HitData:
        data, record, fields = hit_dict(hit), require_record(hit), self._shape.fields
        if not fields:
            return data
        data = {name: value for name, value in data.items() if name in fields or name == "sentence_id"}
        if "matches" in fields:
            tokens = self._index.analyzer.tokens(record.text)
            spans = find_spans(record.text, tokens, self._terms)
            data["matches"] = [{"start": span.start, "end": span.end} for span in spans]
        if "permalink" in fields:
            data["permalink"] = sentence_link(record, True, self._index_name)
        keys = [name.removeprefix(META_PREFIX) for name in fields if name.startswith(META_PREFIX)]
        if "metadata" in fields:
            data["metadata"] = self._document(record).metadata
        elif keys:
            found = ((key, _value_at(self._document(record).metadata, key)) for key in keys)
            data["metadata"] = {key: value for key, value in found if value is not None}
        return data

    def _add_windows(self, hits: Sequence[tuple[HitData, SentenceRecord]], left: int | None) -> None:
        """Add windows to all hits as far as the budget allows, the nearest sentences first."""
        sides = [side for _, record in hits for side in self._sides(record)]
        kept: list[list[str]] = [[] for _ in sides]
        for distance in range(self._shape.window):
            for side, own in zip(sides, kept, strict=True):
                if len(own) != distance or distance >= len(side):
                    continue  # the budget or the document has ended
                if left is None or len(side[distance]) <= left:
                    own.append(side[distance])
                    left = None if left is None else left - len(side[distance])
        for n, (data, _) in enumerate(hits):
            data["window"] = {"before": kept[2 * n][::-1], "after": kept[2 * n + 1]}

    def _sides(self, record: SentenceRecord) -> tuple[list[str], list[str]]:
        """The texts of the sentences before and after one, nearest first."""
        n, place = self._shape.window, record.position
        texts = [sentence.text for sentence in self._document(record).sentences] if n > 1 else []
        if texts[place : place + 1] != [record.text]:  # no document was read, or a later one
            return [record.previous] if record.previous else [], [record.next] if record.next else []
        return texts[max(0, place - n) : place][::-1], texts[place + 1 : place + 1 + n]

    def _document(self, record: SentenceRecord) -> Document:
        """The document of a sentence; an empty one if it has been removed since the search."""
        return self._documents.get(record.document_id) or Document(record.document_id, ())


def _size(data: HitData) -> int:
    """The characters of a hit that count towards a budget."""
    own = sum(len(data[name] or "") for name in _COUNTED if name in data)
    return own + sum(_size(hit) for name in ("passage", "folded") for hit in data.get(name, ()))


def _value_at(metadata: Mapping[str, Any], key: str) -> Any:
    """The value of a key, with `a.b` for a key of a nested object; None if there is none."""
    if key in metadata:
        return metadata[key]
    value: Any = metadata
    for part in key.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value
