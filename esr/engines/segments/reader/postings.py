"""Where terms stand: rows (a term in a sentence) and entries (a term in a document)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from esr.engines.segments.reader.commit_statistics import CommitStatistics
from esr.engines.segments.store.segment import Segment
from esr.plans.bounds import Entries, Rows
from esr.plans.evidence import Array
from esr.plans.plan import FieldName

Numbers = npt.NDArray[np.int64]


def of_term(statistics: CommitStatistics, term: str, fields: Collection[FieldName]) -> tuple[Rows, Entries]:
    """All rows and entries of a term, by segment, then document."""
    table = statistics.document_table
    parts, rows, found = [], 0, 0
    for owner, segment in enumerate(statistics.segments):
        number = statistics.find(term).numbers[owner]
        if number is not None:
            part = _part(segment, number, number + 1, "surrounding" in fields)
            document = part.document + table.owners[owner]
            parts.append(part._replace(start=part.start + rows, entry=part.entry + found, document=document))
            rows, found = rows + len(part.counts), found + len(document)
    return _told(_joined(parts), statistics, fields)


def of_terms(
    statistics: CommitStatistics, owner: int, first: int, last: int, fields: Collection[FieldName]
) -> tuple[Rows, Entries]:
    """All rows and entries of the terms numbered from `first` to before `last` in a segment, by term, then
    document."""
    part = _part(statistics.segments[owner], first, last, "surrounding" in fields)
    first_document = statistics.document_table.owners[owner]
    return _told(part._replace(document=part.document + first_document), statistics, fields)


def _told(joined: _Part, statistics: CommitStatistics, fields: Collection[FieldName]) -> tuple[Rows, Entries]:
    table, at = statistics.document_table, joined.document
    entries = Entries(joined.in_document, table.length[at], table.shortest[at], table.longest[at])
    counts: dict[FieldName, Array] = {"sentence": joined.counts}
    lengths: dict[FieldName, Array] = {"sentence": joined.length}
    if "surrounding" in fields:
        counts["surrounding"], lengths["surrounding"] = joined.around, joined.around_length
    if "document" in fields:
        of_row = np.diff(joined.start, append=len(joined.counts))
        counts["document"] = np.repeat(entries.count[joined.entry], of_row)
        lengths["document"] = np.repeat(entries.length[joined.entry], of_row)
    return Rows(counts, lengths, joined.start, joined.entry), entries


class _Part(NamedTuple):
    """Terms in a segment. Of its rows: counts, lengths; where groups start, their entries; of its entries:
    documents, counts."""

    counts: Array
    length: Array
    around: Array
    around_length: Array
    start: Numbers
    entry: Numbers
    document: Numbers
    in_document: Array


def _joined(parts: Sequence[_Part]) -> _Part:
    if len(parts) == 1:
        return parts[0]
    if not parts:
        none, nothing = np.zeros(0, np.int64), np.zeros(0)
        return _Part(nothing, nothing, nothing, nothing, none, none, none, nothing)
    return _Part(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def _part(segment: Segment, first: int, last: int, surrounding: bool) -> _Part:
    """The terms numbered from `first` to before `last`."""
    sentence, counts = segment.sentence_postings(first, last)
    documents, in_document = segment.document_postings(first, last)
    count = counts.astype(np.float64)
    document = segment.column("document")[sentence]
    change = np.ones(len(sentence), bool)  # whether a row is the first of its document, or of its term
    np.not_equal(document[1:], document[:-1], out=change[1:])
    keys, wanted = documents, document
    if last - first > 1:
        of_row, of_entry = (
            np.repeat(np.arange(last - first), np.diff(segment.column(name)[first : last + 1]))
            for name in ("sentence_starts", "document_starts")
        )
        change[1:] |= of_row[1:] != of_row[:-1]
        size = segment.document_count
        keys, wanted = of_entry * size + documents, of_row * size + document
    start = np.flatnonzero(change)
    around = around_length = count
    if surrounding:
        beside = ~change[1:] & (sentence[1:] == sentence[:-1] + 1)
        around = count.copy()
        around[1:] += np.where(beside, count[:-1], 0.0)
        around[:-1] += np.where(beside, count[1:], 0.0)
        around_length = segment.column("surrounding_length")[sentence].astype(float)
    return _Part(
        count,
        segment.column("length")[sentence].astype(float),
        around,
        around_length,
        start,
        np.searchsorted(keys, wanted[start]),
        documents.astype(np.int64),
        in_document.astype(np.float64),
    )
