"""The answers of a commit to the questions of the contract (`esr/index/questions.py`), except counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from esr.errors import NotFound
from esr.folder.format.segment import Segment
from esr.folder.format.snapshot import Snapshot
from esr.folder.search import vocabulary
from esr.folder.search.cache import SearchCache
from esr.folder.search.conditions import find_live, mask_dates
from esr.folder.search.records import Locations, group_by_segment, read_evidence, read_records
from esr.index import questions
from esr.index.filters import Filters
from esr.index.hits import EVIDENCE_COLUMNS, WindowSentence
from esr.plans.evaluate import Evidence, concatenate, no_evidence
from esr.plans.plan import FIELDS
from esr.stdlib import import_lazily
from esr.text.document import Quote

if TYPE_CHECKING:
    from esr.folder.search import counts, similarity
else:
    counts = import_lazily("esr.folder.search.counts")
    similarity = import_lazily("esr.folder.search.similarity")


def read(cache: SearchCache, column: questions.Column[Any], locations: Locations) -> Any:
    """The answer of `Index.read` for the sentences at these locations."""
    snapshot = cache.snapshot
    match column:
        case questions.Records():
            bases = np.array(snapshot.statistics.sentence_bases)
            ordinals = bases[locations.segments] + locations.numbers
            return read_records(snapshot, cache.documents, ordinals.tolist())
        case questions.EvidenceOf(terms, columns):
            return _read_evidence(snapshot, terms, {*EVIDENCE_COLUMNS, *columns}, locations)
        case questions.SimilaritiesTo(encoder, query, contexts):
            return similarity.read_similarities(snapshot, encoder, query, locations, contexts)
        case questions.Parses():
            return _read_parses(snapshot, locations)
        case questions.Quotes():
            return _read_quotes(snapshot, locations)
        case questions.Windows(places, around):
            return _read_windows(cache, locations, places, around)
        case questions.Copies():
            bases = np.array(snapshot.statistics.sentence_bases)
            ordinals = bases[locations.segments] + locations.numbers
            return cache.copies.read(ordinals, cache.documents)
        case questions.Vectors(encoder):
            return similarity.read_vectors(snapshot, encoder, locations)
        case questions.VectorOrigins(encoder):
            return similarity.read_origins(snapshot, encoder, locations)
    raise TypeError(f"read: {column}")


def _read_evidence(
    snapshot: Snapshot, terms: Sequence[str], columns: set[str], locations: Locations
) -> Evidence:
    if not len(locations.numbers):
        return no_evidence(len(terms), columns)
    parts, order = [], []
    for owner, places, numbers in group_by_segment(locations):
        segment, importance = snapshot.segments[owner], snapshot.statistics.importance[owner]
        parts.append(read_evidence(terms, FIELDS, columns, segment, importance, numbers))
        order.append(places)
    return concatenate(parts).take(np.argsort(np.concatenate(order)))


def _read_parses(snapshot: Snapshot, locations: Locations) -> list[bytes | None]:
    parses: list[bytes | None] = [None] * len(locations.numbers)
    for owner, places, numbers in group_by_segment(locations):
        blobs = snapshot.segments[owner].enrichment.parses(numbers)
        for place, blob in zip(places.tolist(), blobs, strict=True):
            parses[place] = blob
    return parses


def _read_quotes(snapshot: Snapshot, locations: Locations) -> list[tuple[Quote, ...]]:
    quotes: list[tuple[Quote, ...]] = [()] * len(locations.numbers)
    for owner, places, numbers in group_by_segment(locations):
        stored = snapshot.segments[owner].enrichment.quotes(numbers)
        for place, quotations in zip(places.tolist(), stored, strict=True):
            quotes[place] = quotations
    return quotes


def _read_windows(
    cache: SearchCache, locations: Locations, places: Sequence[tuple[str, int]], around: Sequence[int]
) -> list[tuple[WindowSentence, ...]]:
    snapshot = cache.snapshot
    windows = []
    for owner, number, place, width in zip(*map(np.ndarray.tolist, locations), places, around, strict=True):
        segment = snapshot.segments[owner]
        key = owner, segment.sentence_views.document[number]
        document, first = cache.documents.read([key])[key], segment.sentence_views.first[key[1]]
        position = number - first
        if place != (document.id, position):
            raise NotFound(f"there is no sentence {segment.sentence_id(number)!r} at {place}")
        positions = range(max(0, position - width), min(len(document.sentences), position + width + 1))
        numbers = np.arange(first + positions.start, first + positions.stop)
        rows = zip(segment.sentence_ids(numbers), positions, segment.enrichment.quotes(numbers), strict=True)
        windows.append(tuple(WindowSentence(id, n, document.sentences[n].text, q) for id, n, q in rows))
    return windows


def look_up(cache: SearchCache, lookup: questions.Lookup[Any]) -> Any:
    """The answer of `Index.vocabulary`."""
    segments = cache.snapshot.segments
    match lookup:
        case questions.Values(field):
            return cache.values(field)
        case questions.Names(keys):
            return cache.names.find(keys)
        case questions.FullNames(keys):
            return cache.names.full_names(keys)
        case questions.NamesWithPrefix(prefix, limit):
            return cache.names.keys(prefix, limit)
        case questions.NameForms(key):
            return cache.names.forms(key)
        case questions.TermsWithPrefix(prefix, limit):
            terms = {term for segment in segments for term in segment.terms.with_prefix(prefix, limit)}
            return sorted(terms)[:limit]
        case questions.TermHolders(terms):
            return {term: cache.snapshot.statistics.find(term).statistics.sf for term in terms}
        case questions.WordsWithPrefix(prefix, limit):
            return vocabulary.words_with_prefix(segments, prefix, limit)
        case questions.SimilarWords(word, max_edits, least):
            return vocabulary.similar_words(segments, cache.memory, word, max_edits, least)
        case questions.WrittenForms(words):
            return list(map(cache.word_usage.written_form, words))
        case questions.WordCounts(words):
            return counts.count_words(words, cache)
    raise TypeError(f"vocabulary: {lookup}")


def read_fact(cache: SearchCache, fact: questions.Fact[Any]) -> Any:
    """The answer of `Index.status`, except for a summary and readiness."""
    snapshot = cache.snapshot
    match fact:
        case questions.Features():
            return snapshot.features
        case questions.Languages():
            return snapshot.statistics.languages
        case questions.HasParses():
            return snapshot.has_parses
        case questions.HasCopies():
            return snapshot.has_copies
        case questions.MainEncoder():
            return snapshot.main_encoder
        case questions.StoredTable():
            return snapshot.table
        case questions.DocumentMarks():
            return {id: mark for segment in snapshot.segments for id, mark in segment.document_marks()}
        case questions.DocumentsBefore():
            live = find_live(snapshot, Filters(date_to=fact.moment - 1))
            segments = snapshot.segments[live.start : live.stop]
            return {id: size for segment in segments for id, size in _sizes_before(segment, fact.moment)}
        case questions.NearestIsExact():
            return snapshot.main_encoder is None or not similarity.may_use_bits(cache, snapshot.main_encoder)
        case questions.ContentMark():
            return snapshot.manifest.generation_name
    raise TypeError(f"status: {fact}")


def _sizes_before(segment: Segment, moment: int) -> Iterator[tuple[str, int]]:
    """The id and the number of sentences of each document dated before a moment."""
    numbers = np.flatnonzero(mask_dates(segment, None, moment - 1))
    sizes = np.diff(segment.column("first"))[numbers]
    return zip(segment.document_ids.get_many(numbers), sizes.tolist(), strict=True)
