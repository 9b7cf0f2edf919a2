"""The terms of a spool's documents, as Elasticsearch's entries of them and of their sentences store them.

The spool has analysed the documents already, and keeps postings by term. Here they are read by document.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from esr.engines.elasticsearch.load.greatest_evidence import ABSENT, greatest_evidence
from esr.engines.elasticsearch.store.term_maxima import code_weight
from esr.engines.segments.reader.snapshot import Snapshot
from esr.engines.segments.store.segment import Segment


class DocumentTerms(NamedTuple):
    """The terms of one document.

    `context` has every occurrence, those of a term together; `length` is their number. Both are with the
    title if it is indexed. `lengths` and `surrounding_lengths` are those of the sentences. `maxima` is the
    field `term_maxima`.
    """

    context: str
    distinct: int
    length: int
    lengths: list[int]
    surrounding_lengths: list[int]
    maxima: dict[str, float]


class PostingsByDocument:
    """The postings of documents in a segment, in the order of their documents instead of their terms."""

    def __init__(self, segment: Segment) -> None:
        documents = segment.column("document_numbers")
        self.order = np.argsort(documents, kind="stable")
        """Where each of them is in the segment's columns."""
        self._ends = np.cumsum(np.bincount(documents, minlength=segment.document_count)).tolist()
        numbers = np.arange(len(segment.terms), dtype=np.int32)
        self.names = segment.terms.get_many(numbers)
        """The segment's terms, by their numbers."""
        self._terms = np.repeat(numbers, np.diff(segment.column("document_starts")))[self.order]

    def of_document(self, document: int) -> slice:
        """The postings of the document with this number in the segment."""
        return slice(self._ends[document - 1] if document else 0, self._ends[document])

    def terms(self, postings: slice) -> list[str]:
        """The terms of these postings."""
        return [self.names[term] for term in self._terms[postings].tolist()]

    def term_numbers(self, postings: slice) -> npt.NDArray[np.int32]:
        """The numbers of the terms of these postings, which rise within a document."""
        return self._terms[postings]


class SegmentTerms:
    """The terms of the documents of one segment of a spool."""

    def __init__(self, spool: Snapshot, owner: int, postings: PostingsByDocument) -> None:
        """`owner` is the number of the segment, and `postings` are its own."""
        segment = spool.segments[owner]
        self._postings = postings
        self._counts = segment.column("document_counts")[postings.order]
        self._codes = greatest_evidence(spool.statistics, owner)[postings.order]
        self._first = segment.column("first")
        self._document_length = segment.column("document_length")
        self._length = segment.column("length")
        self._surrounding_length = segment.column("surrounding_length")

    def of_document(self, document: int) -> DocumentTerms:
        """Those of the document with this number in the segment."""
        postings = self._postings.of_document(document)
        terms = self._postings.terms(postings)
        counts = self._counts[postings].tolist()
        sentences = slice(int(self._first[document]), int(self._first[document + 1]))
        return DocumentTerms(
            " ".join([word for term, count in zip(terms, counts, strict=True) for word in [term] * count]),
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
