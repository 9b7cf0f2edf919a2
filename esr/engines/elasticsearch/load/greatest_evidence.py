"""The greatest evidence that the sentences of a segment have for each of its terms, document by document."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from esr.engines.elasticsearch.store.term_maxima import pack_maxima
from esr.engines.segments.reader.term_bounds import batch_terms
from esr.engines.segments.store.segment import Segment
from esr.plans.evidence import Array

ABSENT = -1
"""The code of a term that is in no sentence of a document, but in its title."""


class _Groups(NamedTuple):
    """Sentence postings in groups of one term and document: where each starts, and its document posting."""

    starts: npt.NDArray[np.int64]
    document_posting: npt.NDArray[np.int64]


def greatest_evidence(segment: Segment) -> npt.NDArray[np.int32]:
    """The codes of `pack_maxima`, in the order of the segment's postings of documents."""
    codes = np.full(len(segment.column("document_numbers")), ABSENT, np.int32)
    for first, end in batch_terms(segment.column("sentence_starts")):
        numbers, counts = segment.sentence_postings(first, end)
        if not len(numbers):
            continue
        sentences = numbers.astype(np.int64)
        groups = _group(segment, first, end, sentences)
        shares = _surrounding_shares(segment, sentences, counts.astype(float), groups.starts)
        codes[groups.document_posting] = pack_maxima(
            np.maximum.reduceat(counts, groups.starts),
            np.minimum.reduceat(segment.column("length")[sentences], groups.starts),
            np.maximum.reduceat(shares, groups.starts),
        )
    return codes


def _group(segment: Segment, first: int, end: int, sentences: npt.NDArray[np.int64]) -> _Groups:
    """Of the terms from `first` to before `end`, which have postings in these sentences."""
    of_sentences, of_documents = (
        np.repeat(np.arange(first, end), np.diff(segment.column(name)[first : end + 1]))
        for name in ("sentence_starts", "document_starts")
    )
    size = segment.document_count
    keys = of_sentences * size + segment.column("document")[sentences]
    starts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
    document_starts = segment.column("document_starts")
    documents = segment.column("document_numbers")[int(document_starts[first]) : int(document_starts[end])]
    document_keys = of_documents * size + documents
    return _Groups(starts, int(document_starts[first]) + np.searchsorted(document_keys, keys[starts]))


def _surrounding_shares(
    segment: Segment,
    sentences: npt.NDArray[np.int64],
    counts: Array,
    starts: npt.NDArray[np.int64],
) -> Array:
    """Of each posting, the greatest share of its term in the surroundings that contain its sentence.

    A sentence without the term may have it from both neighbours: then its surrounding is the one after the
    first of them.
    """
    lengths, has_previous = segment.column("surrounding_length"), segment.has_previous
    distance = np.diff(sentences)
    distance[starts[1:] - 1] = 0  # no neighbours: they are of different documents or terms
    adjacent, apart = distance == 1, distance == 2
    around = counts.copy()
    around[1:] += np.where(adjacent, counts[:-1], 0.0)
    around[:-1] += np.where(adjacent, counts[1:], 0.0)
    shares: Array = around / lengths[sentences]
    after = counts.copy()
    after[:-1] += np.where(apart, counts[1:], 0.0)
    for other, gap, is_own in (
        (sentences + 1, after, np.append(adjacent, False)),
        (sentences - 1, counts, np.append(False, adjacent)),
    ):
        # Whether the neighbour is of the same document: the later of the two says so.
        later = np.maximum(other, sentences)
        inside = ~is_own & (later < len(has_previous))
        inside[inside] = has_previous[later[inside]]
        shares[inside] = np.maximum(shares[inside], gap[inside] / lengths[other[inside]])
    return shares
