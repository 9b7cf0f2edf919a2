"""The impacts of a spool's sentences (`esr.elastic.impacts`), computed for batches of consecutive
documents.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from esr.elastic.impacts import EMPTY, ImpactBase, document_weights, impact_codes, log_collection, short_float
from esr.elastic.write.actions import PostingsByDocument
from esr.folder.format.snapshot import Snapshot
from esr.plans.evaluate import Array, mixture_shares
from esr.plans.plan import FieldName

_BATCH = 1 << 14
"""The approximate number of sentences per batch."""

Integers = npt.NDArray[np.int64]


class _Batch(NamedTuple):
    """The impacts of consecutive documents, sentence by sentence.

    The terms of the n-th sentence from `first` on, and the codes of their impacts, end at `ends[n]`. `short`
    has the code of each sentence's own impact, 0 if it has none.
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
    own: Array
    around: Array


class SegmentImpacts:
    """The impacts of the sentences of one segment of a spool."""

    def __init__(
        self,
        spool: Snapshot,
        owner: int,
        postings: PostingsByDocument,
        base: ImpactBase,
        elsewhere: Mapping[str, int],
        total_elsewhere: int,
    ) -> None:
        """`owner` is the number of the segment, `postings` are those of its documents.

        `elsewhere` has the occurrences of terms outside the spool, and `total_elsewhere` is their sum.
        """
        segment = spool.segments[owner]
        self._postings, self._base, self._transform = postings, base, base.transform
        self._background = spool.statistics.background(owner, elsewhere, total_elsewhere)
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
        self._batch = _Batch(range(0), 0, [], [], [], [])

    def of_document(self, document: int) -> list[dict[str, float]]:
        """The field `impacts` of each sentence of this document. Documents must be requested in ascending
        order."""
        if document not in self._batch.documents:
            self._batch = self._read_batch(document)
        batch, names = self._batch, self._postings.names
        fields = []
        for sentence in range(int(self._first[document]), int(self._first[document + 1])):
            n = sentence - batch.first
            own = slice(batch.ends[n - 1] if n else 0, batch.ends[n])
            impacts = map(_weight, batch.codes[own])
            field = {names[term]: impact for term, impact in zip(batch.terms[own], impacts, strict=True)}
            if batch.short[n]:
                field[EMPTY] = _weight(batch.short[n])
            fields.append(field)
        return fields

    def _read_batch(self, document: int) -> _Batch:
        """The impacts of this document and of the following ones."""
        start = int(self._first[document])
        until = max(int(np.searchsorted(self._first, start + _BATCH, "right")) - 1, document + 1)
        end = int(self._first[until])
        lengths = {name: column[start:end] for name, column in self._lengths.items()}
        keys, counts = self._document_postings(document, until)
        sentences, terms, own, around = self._pairs(
            start, end, self._strong_keys(start, lengths, keys, counts)
        )
        places = np.searchsorted(keys, self._key(self._document[sentences], terms))
        evidence = np.zeros(len(sentences))
        in_fields = {"sentence": own, "surrounding": around, "document": counts[places]}
        for name, share in mixture_shares(self._transform, lengths).items():
            evidence += share[sentences - start] * in_fields[name]
        collection = log_collection(self._transform, lengths["sentence"])
        length = collection - self._base.log_collection
        p = self._background[terms]
        impacts = np.log1p(evidence / (np.exp(collection)[sentences - start] * p))
        impacts += np.minimum(length, 0.0)[sentences - start] - np.log1p(self._base.scale / p)
        kept = impacts > 0
        return _Batch(
            range(document, until),
            start,
            np.where(length > 0, impact_codes(length), 0).tolist(),
            np.searchsorted(sentences[kept], np.arange(start, end), "right").tolist(),
            terms[kept].tolist(),
            impact_codes(impacts[kept]).tolist(),
        )

    def _key(self, number: Integers, terms: Integers) -> Integers:
        """A number for each pair of a sentence or a document and a term."""
        keys: Integers = number * len(self._background) + terms
        return keys

    def _document_postings(self, first: int, until: int) -> tuple[Integers, Array]:
        """The keys of documents, from `first` to before `until`, with their terms, and the counts."""
        slices = [self._postings.of_document(document) for document in range(first, until)]
        postings = slice(slices[0].start, slices[-1].stop)
        documents = np.repeat(np.arange(first, until), [each.stop - each.start for each in slices])
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
        """Pairs of the sentences from `start` to before `end` with the terms near them, and the pairs
        `others`."""
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
        own = np.zeros(len(keys))
        own[: len(counts)] = counts
        pairs, pair = np.unique(keys, return_inverse=True)
        return _Pairs(
            pairs // len(self._background),
            pairs % len(self._background),
            np.bincount(pair, own, len(pairs)).astype(float),
            np.bincount(pair, around, len(pairs)).astype(float),
        )


_weight = lru_cache(1 << 14)(short_float)
