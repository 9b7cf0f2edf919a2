"""The greatest evidence that the sentences of a segment have for each of its terms, document by document."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from esr.engines.elasticsearch.store.term_maxima import pack_maxima
from esr.engines.segments.reader.commit_statistics import CommitStatistics
from esr.engines.segments.reader.postings import batch_terms, read_batch
from esr.engines.segments.store.segment import Segment
from esr.plans.bounds import SentencePostings
from esr.plans.evidence import Array

ABSENT = -1
"""The code of a term that is in no sentence of a document, but in its title."""


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
    """Of each posting, the greatest share of its term in the surroundings that contain its sentence.

    A sentence without the term may have it from both neighbours: then its surrounding is the one after the
    first of them.
    """
    lengths, has_previous = segment.column("surrounding_length"), segment.has_previous
    counts = postings.counts["sentence"]
    distance = np.diff(sentences)
    distance[postings.starts[1:] - 1] = 0  # no neighbours: they are of different documents or terms
    adjacent = distance == 1
    shares: Array = postings.counts["surrounding"] / postings.lengths["surrounding"]
    after = counts.copy()
    after[:-1] += np.where(distance == 2, counts[1:], 0.0)
    for other, around, is_own in (
        (sentences + 1, after, np.append(adjacent, False)),
        (sentences - 1, counts, np.append(False, adjacent)),
    ):
        # Whether the neighbour is of the same document: the later of the two says so.
        later = np.maximum(other, sentences)
        inside = ~is_own & (later < len(has_previous))
        inside[inside] = has_previous[later[inside]]
        shares[inside] = np.maximum(shares[inside], around[inside] / lengths[other[inside]])
    return shares
