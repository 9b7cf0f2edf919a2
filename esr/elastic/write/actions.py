"""Bulk actions of a load: a spool's documents and sentences as Elasticsearch stores them, and their sending.

The spool has analysed the documents and holds postings by term. This module reads them by document, and
computes the impacts of sentences (`esr.elastic.impacts`) for batches of consecutive documents. The entry of a
document is sent when all its sentences have been acknowledged. So a document in the index of documents is
complete, and the index itself records the progress of an interrupted load.
"""

from __future__ import annotations

import json
import re
import threading
from base64 import b64encode
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from esr.dependency.parses import encode
from esr.elastic.cluster import Cluster
from esr.elastic.dialect import SEPARATOR, VALUES_FIELD
from esr.elastic.documents import encode_quotes, written_terms
from esr.elastic.impacts import (
    EMPTY,
    MAXIMA_FIELD,
    ImpactBase,
    code_weight,
    document_weights,
    impact_codes,
    log_collection,
    pack_lengths,
    pack_maxima,
    short_float,
)
from esr.elastic.location import documents_index
from esr.elastic.vocabulary import KEYS_FIELD
from esr.elastic.write.bulk import Action, RejectedItem, end_retries_when, send_bulk
from esr.folder.format.postings import batch_terms, read_batch
from esr.folder.format.segment import Segment
from esr.folder.format.snapshot import CommitStatistics, Snapshot
from esr.plans.bounds import SentencePostings
from esr.plans.evaluate import Array, mixture_shares
from esr.plans.plan import FieldName
from esr.text.analyzer import Analyzer
from esr.text.attributes import metadata_values
from esr.text.dates import parse_date_start
from esr.text.document import METADATA, Document, ParseWord, Sentence, encode_fields
from esr.text.sentence_enrichment import QUOTES
from esr.text.validate import checksum

Integers = npt.NDArray[np.int64]

ABSENT = -1
"""The code of a term that occurs only in the title of a document."""


def greatest_evidence(statistics: CommitStatistics, owner: int) -> npt.NDArray[np.int32]:
    """The codes of `pack_maxima`, in the order of the segment's postings of documents."""
    segment = statistics.segments[owner]
    document_starts = segment.column("document_starts")
    codes = np.full(int(document_starts[-1]), ABSENT, np.int32)
    for first, end in batch_terms(segment.column("sentence_starts")):
        postings, _ = read_batch(statistics, owner, first, end, {"sentence", "surrounding"})
        sentences = segment.sentence_postings(first, end).numbers.astype(np.int64)
        codes[int(document_starts[first]) + postings.document_posting] = pack_maxima(
            np.maximum.reduceat(postings.counts["sentence"], postings.starts),
            np.minimum.reduceat(postings.lengths["sentence"], postings.starts),
            np.maximum.reduceat(_surrounding_shares(segment, sentences, postings), postings.starts),
        )
    return codes


def _surrounding_shares(
    segment: Segment, sentences: npt.NDArray[np.int64], postings: SentencePostings
) -> Array:
    """For each posting, the greatest share of its term in a surrounding that contains its sentence.

    If a sentence lacks the term but both of its neighbours contain it, the share of its surrounding is
    computed at the posting of the first neighbour.
    """
    lengths, has_previous = segment.column("surrounding_length"), segment.has_previous
    counts = postings.counts["sentence"]
    distance = np.diff(sentences)
    distance[postings.starts[1:] - 1] = 0  # no neighbours: their documents or terms differ
    adjacent = distance == 1
    shares: Array = postings.counts["surrounding"] / postings.lengths["surrounding"]
    after = counts.copy()
    after[:-1] += np.where(distance == 2, counts[1:], 0.0)
    for other, around, is_own in (
        (sentences + 1, after, np.append(adjacent, False)),
        (sentences - 1, counts, np.append(False, adjacent)),
    ):
        # Whether the neighbour is in the same document: the later of the two sentences stores this.
        later = np.maximum(other, sentences)
        inside = ~is_own & (later < len(has_previous))
        inside[inside] = has_previous[later[inside]]
        shares[inside] = np.maximum(shares[inside], around[inside] / lengths[other[inside]])
    return shares


class DocumentTerms(NamedTuple):
    """The terms of one document.

    `context` contains every occurrence, and `length` is their number. Both include the title if it is
    indexed. `lengths` and `surrounding_lengths` are those of the sentences. `maxima` is the field
    `term_maxima`.
    """

    context: str
    distinct: int
    length: int
    lengths: list[int]
    surrounding_lengths: list[int]
    maxima: dict[str, float]


class PostingsByDocument:
    """The postings of a segment's documents, ordered by document instead of term."""

    def __init__(self, segment: Segment) -> None:
        documents = segment.column("document_numbers")
        self.order: npt.NDArray[Any] = np.argsort(documents, kind="stable")
        """The position of each posting in the segment's columns."""
        self._ends = np.cumsum(np.bincount(documents, minlength=segment.document_count)).tolist()
        numbers = np.arange(len(segment.terms), dtype=np.int32)
        self.names: list[str] = segment.terms.get_many(numbers)
        """The segment's terms, by their numbers."""
        self._terms = np.repeat(numbers, np.diff(segment.column("document_starts")))[self.order]

    def locate(self, document: int) -> slice:
        """The postings of the document with this number in the segment."""
        return slice(self._ends[document - 1] if document else 0, self._ends[document])

    def terms(self, postings: slice) -> list[str]:
        """The terms of these postings."""
        return [self.names[term] for term in self._terms[postings].tolist()]

    def term_numbers(self, postings: slice) -> npt.NDArray[np.int32]:
        """The numbers of the terms of these postings, ascending within a document."""
        return self._terms[postings]


class SegmentTerms:
    """The terms of the documents of one segment of a spool."""

    def __init__(self, spool: Snapshot, owner: int, postings: PostingsByDocument) -> None:
        """`owner` is the number of the segment, `postings` are those of its documents."""
        segment = spool.segments[owner]
        self._postings = postings
        self._counts = segment.column("document_counts")[postings.order]
        self._codes = greatest_evidence(spool.statistics, owner)[postings.order]
        self._first = segment.column("first")
        self._document_length = segment.column("document_length")
        self._length = segment.column("length")
        self._surrounding_length = segment.column("surrounding_length")

    def read_document(self, document: int) -> DocumentTerms:
        """The terms of the document with this number in the segment."""
        postings = self._postings.locate(document)
        terms = self._postings.terms(postings)
        sentences = slice(int(self._first[document]), int(self._first[document + 1]))
        return DocumentTerms(
            repeat_terms(terms, self._counts[postings]),
            len(terms),
            int(self._document_length[document]),
            self._length[sentences].tolist(),
            self._surrounding_length[sentences].tolist(),
            {
                term: code_weight(code)
                for term, code in zip(terms, self._codes[postings].tolist(), strict=True)
                if code != ABSENT
            },
        )


def repeat_terms(terms: Sequence[str], counts: Integers) -> str:
    """Repeat each term `counts` times: all terms, then those that occur at least twice, and so on.

    The most frequent terms come first, so only the beginning repeats, which compresses to a few bytes.
    """
    ordered = [terms[place] for place in np.argsort(counts, kind="stable")[::-1].tolist()]
    occurring_more_than = len(ordered) - np.cumsum(np.bincount(counts))[:-1]
    return " ".join(chain.from_iterable(ordered[:end] for end in occurring_more_than.tolist()))


IMPACTS_BATCH = 1 << 14
"""The approximate number of sentences whose impacts are computed at once."""


class _ImpactsBatch(NamedTuple):
    """The impacts of consecutive documents, sentence by sentence.

    The terms of the n-th sentence from `first` on, and the codes of their impacts, end at `ends[n]`. `short`
    has the code of each sentence's impact for being short, 0 if it has none.
    """

    documents: range
    first: int
    short: list[int]
    ends: list[int]
    terms: list[int]
    codes: list[int]


class _Pairs(NamedTuple):
    """Pairs of a sentence and a term, with the counts of the term in the sentence and in its surrounding."""

    sentences: Integers
    terms: Integers
    in_sentence: Array
    around: Array


class SegmentImpacts:
    """The impacts of the sentences of one segment of a spool."""

    def __init__(
        self,
        spool: Snapshot,
        owner: int,
        postings: PostingsByDocument,
        base: ImpactBase,
        outside: Mapping[str, int],
        total_elsewhere: int,
    ) -> None:
        """`owner` is the number of the segment, `postings` are those of its documents.

        `outside` has the occurrences of terms outside the spool, and `total_elsewhere` is their sum.
        """
        segment = spool.segments[owner]
        self._postings, self._base, self._transform = postings, base, base.transform
        self._background = spool.statistics.background(owner, outside, total_elsewhere)
        self._first = segment.column("first").astype(np.int64)
        self._document = segment.column("document").astype(np.int64)
        self._has_previous = np.append(segment.has_previous, False)
        self._lengths: dict[FieldName, Array] = {
            "sentence": segment.column("length").astype(float),
            "surrounding": segment.column("surrounding_length").astype(float),
            "document": segment.column("document_length").astype(float)[self._document],
        }
        sentences, counts = segment.sentence_postings(0, len(segment.terms))
        terms = np.repeat(np.arange(len(segment.terms)), np.diff(segment.column("sentence_starts")))
        by_sentence = np.argsort(sentences, kind="stable")
        self._sentences, self._counts = sentences[by_sentence].astype(np.int64), counts[by_sentence]
        self._terms = terms[by_sentence]
        self._document_counts = segment.column("document_counts")[postings.order]
        self._batch = _ImpactsBatch(range(0), 0, [], [], [], [])

    def read_document(self, document: int) -> list[dict[str, float]]:
        """The impacts of each sentence of this document, by term. Request documents in ascending order."""
        if document not in self._batch.documents:
            self._batch = self._read_batch(document)
        batch, names = self._batch, self._postings.names
        fields = []
        for sentence in range(int(self._first[document]), int(self._first[document + 1])):
            n = sentence - batch.first
            in_batch = slice(batch.ends[n - 1] if n else 0, batch.ends[n])
            impacts = map(_weight, batch.codes[in_batch])
            field = {names[term]: impact for term, impact in zip(batch.terms[in_batch], impacts, strict=True)}
            if batch.short[n]:
                field[EMPTY] = _weight(batch.short[n])
            fields.append(field)
        return fields

    def _read_batch(self, document: int) -> _ImpactsBatch:
        """Compute the impacts of this document and of the following ones."""
        start = int(self._first[document])
        until = max(int(np.searchsorted(self._first, start + IMPACTS_BATCH, "right")) - 1, document + 1)
        end = int(self._first[until])
        lengths = {name: column[start:end] for name, column in self._lengths.items()}
        keys, counts = self._document_postings(document, until)
        sentences, terms, in_sentence, around = self._pairs(
            start, end, self._strong_keys(start, lengths, keys, counts)
        )
        places = np.searchsorted(keys, self._key(self._document[sentences], terms))
        evidence = np.zeros(len(sentences))
        in_fields = {"sentence": in_sentence, "surrounding": around, "document": counts[places]}
        for name, share in mixture_shares(self._transform, lengths).items():
            evidence += share[sentences - start] * in_fields[name]
        collection = log_collection(self._transform, lengths["sentence"])
        length = collection - self._base.log_collection
        p = self._background[terms]
        impacts = np.log1p(evidence / (np.exp(collection)[sentences - start] * p))
        impacts += np.minimum(length, 0.0)[sentences - start] - np.log1p(self._base.scale / p)
        is_positive = impacts > 0
        return _ImpactsBatch(
            range(document, until),
            start,
            np.where(length > 0, impact_codes(length), 0).tolist(),
            np.searchsorted(sentences[is_positive], np.arange(start, end), "right").tolist(),
            terms[is_positive].tolist(),
            impact_codes(impacts[is_positive]).tolist(),
        )

    def _key(self, number: Integers, terms: Integers) -> Integers:
        """The key of each pair of a sentence or document number and a term."""
        keys: Integers = number * len(self._background) + terms
        return keys

    def _document_postings(self, first: int, until: int) -> tuple[Integers, Array]:
        """The keys of the documents from `first` to before `until` with their terms, and the counts."""
        slices = [self._postings.locate(document) for document in range(first, until)]
        postings = slice(slices[0].start, slices[-1].stop)
        documents = np.repeat(np.arange(first, until), [piece.stop - piece.start for piece in slices])
        keys = self._key(documents, self._postings.term_numbers(postings).astype(np.int64))
        return keys, self._document_counts[postings].astype(float)

    def _strong_keys(
        self, start: int, lengths: Mapping[FieldName, Array], keys: Integers, counts: Array
    ) -> Integers:
        """The keys of sentences with the terms whose count in the document alone gives them an impact."""
        weights = document_weights(self._transform, lengths["sentence"]) / np.maximum(
            lengths["document"], 1.0
        )
        scale, size = self._base.scale, len(self._background)
        documents, terms = keys // size, keys % size
        greatest = np.zeros(len(self._first))
        np.maximum.at(greatest, self._document[start : start + len(weights)], weights)
        strong = np.flatnonzero(greatest[documents] * counts > scale)
        firsts = self._first[documents[strong]]
        sizes = self._first[documents[strong] + 1] - firsts
        posting = np.repeat(strong, sizes)
        within = np.arange(len(posting)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        sentences = np.repeat(firsts, sizes) + within
        is_strong = weights[sentences - start] * counts[posting] > scale
        return self._key(sentences[is_strong], terms[posting[is_strong]])

    def _pairs(self, start: int, end: int, others: Integers) -> _Pairs:
        """Pairs of the sentences from `start` to before `end` with the terms near them, and of `others`."""
        within = slice(*np.searchsorted(self._sentences, (start, end)))
        sentences, terms, counts = self._sentences[within], self._terms[within], self._counts[within]
        before, after = self._has_previous[sentences], self._has_previous[sentences + 1]
        keys = np.concatenate(
            [
                self._key(sentences, terms),
                self._key(sentences[before] - 1, terms[before]),
                self._key(sentences[after] + 1, terms[after]),
                others,
            ]
        )
        around = np.zeros(len(keys))
        around[: len(keys) - len(others)] = np.concatenate([counts, counts[before], counts[after]])
        in_sentence = np.zeros(len(keys))
        in_sentence[: len(counts)] = counts
        pairs, pair = np.unique(keys, return_inverse=True)
        return _Pairs(
            pairs // len(self._background),
            pairs % len(self._background),
            np.bincount(pair, in_sentence, len(pairs)).astype(float),
            np.bincount(pair, around, len(pairs)).astype(float),
        )


_weight = lru_cache(1 << 14)(short_float)


_ELASTICSEARCH_DATE = re.compile(
    r"\d{4}(-\d\d(-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-](0\d|1[0-7]):[0-5]\d)?)?)?)?", re.ASCII
)
"""Java takes offsets of at most 18 hours, Python those of less than 24 and minutes from 60 on."""


@dataclass(slots=True)
class DocumentActions:
    """A document with the actions for its entry and for the entries of its sentences."""

    document: Document
    entry: Action
    sentences: list[Action]


class ActionBuilder:
    """Builds the actions of a load, document by document. Ids are fixed, so repeated actions overwrite."""

    def __init__(self, analyzer: Analyzer, find_index: Callable[[Document], str]) -> None:
        """`find_index` gives the index of sentences that a document belongs to."""
        self._analyzer = analyzer
        self._find_index = find_index

    def build(
        self,
        document: Document,
        terms: DocumentTerms,
        ordinal: int,
        document_ordinal: int,
        priors: Mapping[str, Any],
    ) -> DocumentActions:
        """The actions for a document, whose first sentence gets `ordinal`, and which gets `document_ordinal`.

        `priors` has the stored priors of the sentences by column, in the document's order.
        """
        metadata, analyzer = _metadata(document), self._analyzer.for_language(document.language)
        written = written_terms(document.sentences, analyzer)
        index = self._find_index(document)
        given_date = {} if metadata.get("date") == document.date else {"given_date": document.date}
        entry = {
            "_index": documents_index(index),
            "_id": document.id,
            "document_id": document.id,
            "checksum": checksum(document),
            "ordinal": document_ordinal,
            "context": terms.context,
            "length": terms.length,
            "terms": terms.distinct,
            "size": len(terms.lengths),
            "extent": pack_lengths(terms.length, terms.lengths),
            MAXIMA_FIELD: terms.maxima,
            "sentences": [_stored_sentence(sentence) for sentence in document.sentences],
            **given_date,
            **_given_metadata(document),
            **metadata,
        }
        sentences = [
            {
                "_index": index,
                "_id": sentence.id,
                "sentence_id": sentence.id,
                "document_id": document.id,
                "position": n,
                **({} if sentence.paragraph is None else {"paragraph": sentence.paragraph}),
                "ordinal": ordinal + n,
                "text": sentence.text,
                "context": terms.context,
                **written[n],
                "length": terms.lengths[n],
                "surrounding_length": terms.surrounding_lengths[n],
                "document_length": terms.length,
                **{name: float(column[n]) for name, column in priors.items()},
                **({"features": dict(sentence.features)} if sentence.features else {}),
                **({} if sentence.parse is None else {"parse": encode_parse(sentence.parse, analyzer)}),
                **({QUOTES: encode_quotes(sentence.quotes)} if sentence.quotes else {}),
                **dict(_neighbours(document.sentences, n)),
                **metadata,
            }
            for n, sentence in enumerate(document.sentences)
        ]
        return DocumentActions(document, entry, sentences)


def encode_parse(parse: Sequence[ParseWord], analyzer: Analyzer) -> str:
    """A parse as the field `parse` stores it."""
    return b64encode(encode(parse, analyzer)).decode()


def elasticsearch_date(date: str) -> str:
    """A date in a form that Elasticsearch reads: as given if possible, otherwise an equal one."""
    if _ELASTICSEARCH_DATE.fullmatch(date):
        return date
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=parse_date_start(date))
    return moment.isoformat().replace("+00:00", "Z")


def _metadata(document: Document) -> dict[str, Any]:
    """The fields that the entries of a document and of its sentences share, without missing ones.

    Metadata is included as attributes.
    """
    fields = encode_fields(document)
    if document.date:
        fields["date"] = elasticsearch_date(document.date)
    if document.metadata:
        fields[METADATA] = {key: list(values) for key, values in metadata_values(document.metadata).items()}
    return fields


def _given_metadata(document: Document) -> dict[str, Any]:
    """The metadata as JSON, and its keys and values for facets and filters."""
    if not document.metadata:
        return {}
    attributes = metadata_values(document.metadata)
    return {
        "given_metadata": json.dumps(document.metadata, ensure_ascii=False),
        KEYS_FIELD: list(attributes),
        VALUES_FIELD: [key + SEPARATOR + value for key, values in attributes.items() for value in values],
    }


def _neighbours(sentences: Sequence[Sentence], n: int) -> Iterator[tuple[str, str]]:
    if n:
        yield "previous", sentences[n - 1].text
    if n + 1 < len(sentences):
        yield "next", sentences[n + 1].text


def _stored_sentence(sentence: Sentence) -> dict[str, Any]:
    """A sentence as the entry of its document stores it."""
    stored: dict[str, Any] = {"id": sentence.id, "text": sentence.text}
    if sentence.paragraph is not None:
        stored["paragraph"] = sentence.paragraph
    if sentence.features:
        stored["features"] = dict(sentence.features)
    if sentence.parse is not None:
        stored["parse"] = [list(word) for word in sentence.parse]
    if sentence.quotes:
        stored[QUOTES] = [quote._asdict() for quote in sentence.quotes]
    return stored


CHUNK_SENTENCES = 1000
_CHUNK_BYTES = 4_000_000
_CHUNKS_AHEAD = 2
"""Number of chunks that wait for each worker."""


@dataclass(slots=True)
class SentChunk:
    """The result of a chunk: fully indexed documents, and rejected ones, of which nothing is indexed."""

    indexed: list[DocumentActions] = field(default_factory=list)
    rejected: list[tuple[DocumentActions, str]] = field(default_factory=list)


def send_documents(
    cluster: Cluster, documents: Iterable[DocumentActions], workers: int
) -> Iterator[SentChunk]:
    """Send documents in chunks, and yield the results in order. Chunks in memory or in flight are bounded.

    If the caller stops, requests in flight are awaited, but not retried.
    """
    pending: deque[Future[SentChunk]] = deque()
    stopped = threading.Event()
    with ThreadPoolExecutor(workers, "esr-send", end_retries_when, (stopped,)) as pool:
        try:
            for chunk in _chunks(documents):
                pending.append(pool.submit(send_chunk, cluster, chunk))
                while len(pending) >= _CHUNKS_AHEAD * workers:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        finally:
            stopped.set()
            for future in pending:
                future.cancel()


def _chunks(documents: Iterable[DocumentActions]) -> Iterator[list[DocumentActions]]:
    chunk: list[DocumentActions] = []
    sentences = size = 0
    for actions in documents:
        chunk.append(actions)
        sentences += len(actions.sentences)
        size += (len(actions.sentences) + 1) * len(actions.entry["context"])
        if sentences >= CHUNK_SENTENCES or size >= _CHUNK_BYTES:
            yield chunk
            chunk, sentences, size = [], 0, 0
    if chunk:
        yield chunk


def send_chunk(cluster: Cluster, chunk: list[DocumentActions]) -> SentChunk:
    """Send the sentences of a chunk, then the documents all of whose sentences were accepted.

    Entries of rejected documents that were already stored are deleted.
    """
    document_of = {action["_id"]: actions.document.id for actions in chunk for action in actions.sentences}
    rejections: dict[str, RejectedItem] = {}
    for item in send_bulk(cluster, (action for actions in chunk for action in actions.sentences)):
        rejections.setdefault(document_of[item.id], item)
    accepted = [actions.entry for actions in chunk if actions.document.id not in rejections]
    for item in send_bulk(cluster, accepted):
        rejections.setdefault(item.id, item)
    result = SentChunk()
    for actions in chunk:
        rejection = rejections.get(actions.document.id)
        if rejection is None:
            result.indexed.append(actions)
        else:
            reason = f"{cluster.dialect.name} rejected {rejection.id}: {rejection.reason}"
            result.rejected.append((actions, reason))
    incomplete = (action for actions, _ in result.rejected for action in actions.sentences)
    send_bulk(cluster, (deletion(action["_index"], action["_id"]) for action in incomplete))
    return result


def deletion(index: str, id: str) -> Action:
    return {"_op_type": "delete", "_index": index, "_id": id}
