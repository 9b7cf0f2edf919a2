"""The postings of terms over all segments of a commit, in the form from which bounds are computed."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from esr.folder.format.files import Numbers
from esr.folder.format.segment import Segment
from esr.folder.format.snapshot import CommitStatistics
from esr.plans.bounds import DocumentPostings, SentencePostings
from esr.plans.evaluate import Array
from esr.plans.plan import FieldName

BATCH = 1 << 17
"""Approximate number of sentence postings in a batch, which takes about 30 MB."""


def read_postings(
    statistics: CommitStatistics, term: str, fields: Collection[FieldName]
) -> tuple[SentencePostings, DocumentPostings]:
    """Read all postings of a term, by segment and document."""
    table = statistics.document_table
    parts, sentences, documents = [], 0, 0
    for owner, segment in enumerate(statistics.segments):
        number = statistics.find(term).numbers[owner]
        if number is not None:
            part = _read_segment(segment, number, number + 1, "surrounding" in fields)
            parts.append(
                part._replace(
                    starts=part.starts + sentences,
                    document_posting=part.document_posting + documents,
                    document=part.document + table.document_bases[owner],
                )
            )
            sentences, documents = sentences + len(part.sentence_count), documents + len(part.document)
    return _to_postings(_concatenate(parts), statistics, fields)


def read_batch(
    statistics: CommitStatistics, owner: int, first: int, end: int, fields: Collection[FieldName]
) -> tuple[SentencePostings, DocumentPostings]:
    """Read all postings of the terms from `first` to before `end` in a segment, by term and document."""
    part = _read_segment(statistics.segments[owner], first, end, "surrounding" in fields)
    first_document = statistics.document_table.document_bases[owner]
    return _to_postings(part._replace(document=part.document + first_document), statistics, fields)


def batch_terms(sentence_starts: npt.NDArray[np.integer]) -> list[tuple[int, int]]:
    """Split terms into ranges (first, end), each with about `BATCH` sentence postings."""
    borders = np.searchsorted(sentence_starts, np.arange(0, int(sentence_starts[-1]), BATCH))
    ends = [*dict.fromkeys(borders.tolist()), len(sentence_starts) - 1]
    return [(first, last) for first, last in zip([0, *ends], ends, strict=False) if first < last]


class _Columns(NamedTuple):
    """Postings of terms in a segment.

    For sentence postings: counts and lengths, of the sentence and of its surrounding. `starts` are the
    indices at which a new document (or term) begins, `document_posting` the document posting of each such
    group. For document postings: documents and counts.
    """

    sentence_count: Array
    length: Array
    surrounding_count: Array
    surrounding_length: Array
    starts: Numbers
    document_posting: Numbers
    document: Numbers
    document_count: Array


def _read_segment(segment: Segment, first: int, end: int, with_surrounding: bool) -> _Columns:
    """Read the postings of the terms numbered from `first` to before `end`."""
    sentence, sentence_counts = segment.sentence_postings(first, end)
    documents, document_counts = segment.document_postings(first, end)
    count = sentence_counts.astype(np.float64)
    document = segment.column("document")[sentence]
    is_start = np.ones(len(sentence), bool)  # of a document or a term
    np.not_equal(document[1:], document[:-1], out=is_start[1:])
    keys, sentence_keys = documents, document
    if end - first > 1:
        sentence_term, document_term = (
            np.repeat(np.arange(end - first), np.diff(segment.column(name)[first : end + 1]))
            for name in ("sentence_starts", "document_starts")
        )
        is_start[1:] |= sentence_term[1:] != sentence_term[:-1]
        size = segment.document_count
        keys, sentence_keys = document_term * size + documents, sentence_term * size + document
    starts = np.flatnonzero(is_start)
    surrounding_count = surrounding_length = count
    if with_surrounding:
        is_next = ~is_start[1:] & (sentence[1:] == sentence[:-1] + 1)
        surrounding_count = count.copy()
        surrounding_count[1:] += np.where(is_next, count[:-1], 0.0)
        surrounding_count[:-1] += np.where(is_next, count[1:], 0.0)
        surrounding_length = segment.column("surrounding_length")[sentence].astype(float)
    return _Columns(
        count,
        segment.column("length")[sentence].astype(float),
        surrounding_count,
        surrounding_length,
        starts,
        np.searchsorted(keys, sentence_keys[starts]),
        documents.astype(np.int64),
        document_counts.astype(np.float64),
    )


def _concatenate(parts: Sequence[_Columns]) -> _Columns:
    if len(parts) == 1:
        return parts[0]
    if not parts:
        numbers, values = np.zeros(0, np.int64), np.zeros(0)
        return _Columns(values, values, values, values, numbers, numbers, numbers, values)
    return _Columns(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def _to_postings(
    columns: _Columns, statistics: CommitStatistics, fields: Collection[FieldName]
) -> tuple[SentencePostings, DocumentPostings]:
    table, at = statistics.document_table, columns.document
    documents = DocumentPostings(
        columns.document_count, table.length[at], table.shortest[at], table.longest[at]
    )
    counts: dict[FieldName, Array] = {"sentence": columns.sentence_count}
    lengths: dict[FieldName, Array] = {"sentence": columns.length}
    if "surrounding" in fields:
        counts["surrounding"] = columns.surrounding_count
        lengths["surrounding"] = columns.surrounding_length
    if "document" in fields:
        group, sizes = columns.document_posting, np.diff(columns.starts, append=len(columns.sentence_count))
        counts["document"] = np.repeat(documents.count[group], sizes)
        lengths["document"] = np.repeat(documents.length[group], sizes)
    return SentencePostings(counts, lengths, columns.starts, columns.document_posting), documents
