"""Where the postings of documents are.

What is read there is scattered in memory. So the processor is told of it before it is needed, and the
documents of a batch are looked up together: none waits for the one before.
"""

from __future__ import annotations

from esr.engines.embedded.search.kernel.columns import column_number, lower_bound
from esr.engines.embedded.search.kernel.instructions import prefetch
from esr.engines.embedded.search.kernel.layout import (
    COUNT_BITS,
    DOCUMENT_COUNTS,
    DOCUMENT_NUMBERS,
    DOCUMENTS_FROM,
    DOCUMENTS_TO,
    FIRST,
    FIRST_SENTENCE,
    LENGTHS,
    SENTENCE_POSTINGS,
    SENTENCES_FROM,
    SENTENCES_TO,
)
from esr.engines.embedded.search.kernel.numba_support import inlined, uncounted

LINE = 64
"""Bytes that are brought into the cache together."""
MAX_PREFETCHED = 1 << 16
"""Bytes of a column: where a term has more, its postings are too many to be brought into the cache."""


@inlined
def prefetch_numbers(segments, g, column, begin, end):
    """Bring the numbers of a range of a segment's column into the cache, if they are not too many."""
    address, width = segments[g, column], segments[g, column + 1]
    if width * (end - begin) <= MAX_PREFETCHED:
        for line in range(address + width * begin, address + width * end, LINE):
            prefetch(line)


@uncounted
def prefetch_postings(segments, ranges):
    """Bring the postings of all terms into the cache, which are searched for those of some documents."""
    for t in range(len(ranges)):
        for g in range(len(segments)):
            prefetch_numbers(
                segments, g, SENTENCE_POSTINGS, ranges[t, g, SENTENCES_FROM], ranges[t, g, SENTENCES_TO]
            )
            prefetch_numbers(
                segments, g, DOCUMENT_COUNTS, ranges[t, g, DOCUMENTS_FROM], ranges[t, g, DOCUMENTS_TO]
            )


@uncounted
def locate_postings(commit, ranges, batch, n):
    """Find the segments of the first n documents of the batch, and the postings of each term."""
    segments, records, bases = commit.segments, commit.documents, commit.document_bases
    documents, owners = batch.documents, batch.owners
    document_postings, sentence_postings = batch.document_postings, batch.sentence_postings
    for j in range(n):
        prefetch(records.ctypes.data + records.strides[0] * documents[j])
        g = 0
        while bases[g + 1] <= documents[j]:
            g += 1
        owners[j] = g
    for t in range(len(ranges)):
        for j in range(n):
            g = owners[j]
            local, end = documents[j] - bases[g], ranges[t, g, DOCUMENTS_TO]
            at = lower_bound(segments, g, DOCUMENT_NUMBERS, ranges[t, g, DOCUMENTS_FROM], end, local)
            is_present = at < end and column_number(segments, g, DOCUMENT_NUMBERS, at) == local
            document_postings[t, j] = at if is_present else -1
    for j in range(n):
        g = owners[j]
        first = records[documents[j], FIRST] - segments[g, FIRST_SENTENCE]
        prefetch(segments[g, LENGTHS] + segments[g, LENGTHS + 1] * first)
    for t in range(len(ranges)):
        for j in range(n):
            g, at = owners[j], document_postings[t, j]
            if at >= 0:
                prefetch(segments[g, DOCUMENT_COUNTS] + segments[g, DOCUMENT_COUNTS + 1] * at)
                first = records[documents[j], FIRST] - segments[g, FIRST_SENTENCE]
                sentence_postings[t, j] = lower_bound(
                    segments,
                    g,
                    SENTENCE_POSTINGS,
                    ranges[t, g, SENTENCES_FROM],
                    ranges[t, g, SENTENCES_TO],
                    first << segments[g, COUNT_BITS],
                )
