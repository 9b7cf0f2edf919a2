"""Where the postings of documents are.

What is read there is scattered in memory. So the processor is told of it before it is needed, and the
documents of a batch are looked up together: none waits for the one before.
"""

from __future__ import annotations

from esr.engines.embedded.search.kernel.columns import column_number, lower_bounds
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
    for j in range(n):
        prefetch(records.ctypes.data + records.strides[0] * documents[j])
        g = 0
        while bases[g + 1] <= documents[j]:
            g += 1
        owners[j] = g
    for g in range(len(segments)):
        members = find_members(batch, g, n)
        if members == 0:
            continue
        for t in range(len(ranges)):
            locate_in_documents(commit, ranges, batch, t, g, members)
        for i in range(members):
            first = records[documents[batch.members[i]], FIRST] - segments[g, FIRST_SENTENCE]
            prefetch(segments[g, LENGTHS] + segments[g, LENGTHS + 1] * first)
        for t in range(len(ranges)):
            locate_in_sentences(commit, ranges, batch, t, g, members)


@inlined
def find_members(batch, g, n):
    """Set `batch.members` to the first n documents of the batch that are in a segment. Gives their number."""
    members = 0
    for j in range(n):
        batch.members[members] = j
        members += batch.owners[j] == g
    return members


@inlined
def locate_in_documents(commit, ranges, batch, t, g, members):
    """Find a term's postings of documents, -1 for documents without it."""
    segments, base, end = commit.segments, commit.document_bases[g], ranges[t, g, DOCUMENTS_TO]
    for i in range(members):
        batch.wanted[i] = batch.documents[batch.members[i]] - base
    low, wanted = ranges[t, g, DOCUMENTS_FROM], batch.wanted[:members]
    lower_bounds(segments, g, DOCUMENT_NUMBERS, low, end, wanted, batch.found)
    for i in range(members):
        at = batch.found[i]
        is_present = at < end and column_number(segments, g, DOCUMENT_NUMBERS, at) == batch.wanted[i]
        batch.document_postings[t, batch.members[i]] = at if is_present else -1


@inlined
def locate_in_sentences(commit, ranges, batch, t, g, members):
    """Find a term's first postings of sentences in the documents that have it."""
    segments, records = commit.segments, commit.documents
    shift, bits, n = segments[g, FIRST_SENTENCE], segments[g, COUNT_BITS], 0
    counts, width = segments[g, DOCUMENT_COUNTS], segments[g, DOCUMENT_COUNTS + 1]
    for i in range(members):
        j = batch.members[i]
        at = batch.document_postings[t, j]
        batch.having[n] = j
        batch.wanted[n] = (records[batch.documents[j], FIRST] - shift) << bits
        if at >= 0:
            prefetch(counts + width * at)
        n += at >= 0
    low, high = ranges[t, g, SENTENCES_FROM], ranges[t, g, SENTENCES_TO]
    lower_bounds(segments, g, SENTENCE_POSTINGS, low, high, batch.wanted[:n], batch.found)
    for i in range(n):
        batch.sentence_postings[t, batch.having[i]] = batch.found[i]
