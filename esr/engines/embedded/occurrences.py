"""Where a plan's terms are: rows (a term in a sentence) and entries (a term in a document)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from esr.engines.embedded.segment import Postings, Segment
from esr.engines.embedded.snapshot import Snapshot
from esr.plans.bounds import Entries, Rows
from esr.plans.evidence import Array
from esr.plans.plan import FieldName, Plan

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Occurrences:
    """Rows of shape (r,) and entries of shape (e,), by segment, then term, then document.

    `row_sentence`, `row_document` and `entry_document` are numbers over all segments.
    """

    row_term: Numbers
    row_sentence: Numbers
    row_document: Numbers
    rows: Rows
    entry_document: Numbers
    entries: Entries


def occurrences(plan: Plan, snapshot: Snapshot) -> Occurrences:
    """All occurrences of a plan's terms."""
    fields = set(plan.transform.fields())
    terms = [term.term for term in plan.terms]
    spans = snapshot.spans
    parts = []
    rows, found, surrounding = 0, 0, "surrounding" in fields
    for owner, segment in enumerate(snapshot.segments):
        part = _part(segment, terms, surrounding, snapshot.starts[owner], int(spans.owners[owner]))
        if part is not None:
            parts.append(part._replace(start=part.start + rows, entry=part.entry + found))
            rows, found = rows + len(part.sentence), found + len(part.entry_term)
    joined = _joined(parts)
    entries = Entries(
        joined.entry_term,
        joined.entry_count,
        spans.length[joined.entry_document],
        spans.shortest[joined.entry_document],
        spans.longest[joined.entry_document],
    )
    counts: dict[FieldName, Array] = {"sentence": joined.counts}
    lengths: dict[FieldName, Array] = {"sentence": joined.length}
    if surrounding:
        counts["surrounding"], lengths["surrounding"] = joined.around, joined.around_length
    if "document" in fields:
        of_row = np.diff(joined.start, append=len(joined.counts))
        counts["document"] = np.repeat(entries.count[joined.entry], of_row)
        lengths["document"] = np.repeat(entries.length[joined.entry], of_row)
    return Occurrences(
        joined.term,
        joined.sentence,
        joined.document,
        Rows(counts, lengths, joined.start, joined.entry),
        joined.entry_document,
        entries,
    )


class _Part(NamedTuple):
    """The rows of a segment: their terms, sentences, documents, counts; where groups start; their entries."""

    term: Numbers
    sentence: Numbers
    document: Numbers
    counts: Array
    length: Array
    around: Array
    around_length: Array
    start: Numbers
    entry: Numbers
    entry_term: Numbers
    entry_document: Numbers
    entry_count: Array


def _joined(parts: Sequence[_Part]) -> _Part:
    if len(parts) == 1:
        return parts[0]
    if not parts:
        none, nothing = np.zeros(0, np.int64), np.zeros(0)
        return _Part(none, none, none, nothing, nothing, nothing, nothing, none, none, none, none, nothing)
    return _Part(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def _part(
    segment: Segment, terms: Sequence[str], surrounding: bool, sentences: int, documents: int
) -> _Part | None:
    """The rows of a segment whose first sentence and document have these numbers."""
    found = enumerate(segment.terms.find(term) for term in terms)
    known = [(place, number) for place, number in found if number is not None]
    if not known:
        return None
    term, sentence, count = _together([(place, segment.in_sentences(number)) for place, number in known])
    entry_term, entry_document, entry_count = _together(
        [(place, segment.in_documents(number)) for place, number in known]
    )
    document = segment.column("document")[sentence].astype(np.int64)
    change = np.ones(len(sentence), bool)  # whether a row is the first of its term and document
    np.not_equal(document[1:], document[:-1], out=change[1:])
    first = np.searchsorted(term, [place for place, _ in known])
    change[first[first < len(change)]] = True  # a term of titles only has no row
    start = np.flatnonzero(change)
    whole = len(segment.documents)
    entry = np.searchsorted(entry_term * whole + entry_document, term[start] * whole + document[start])
    around = around_length = count
    if surrounding:
        beside = ~change[1:] & (sentence[1:] == sentence[:-1] + 1)
        around = count.copy()
        around[1:] += np.where(beside, count[:-1], 0.0)
        around[:-1] += np.where(beside, count[1:], 0.0)
        around_length = segment.column("surrounding_length")[sentence].astype(float)
    return _Part(
        term,
        sentence + sentences,
        document + documents,
        count,
        segment.column("length")[sentence].astype(float),
        around,
        around_length,
        start,
        entry,
        entry_term,
        entry_document + documents,
        entry_count,
    )


def _together(postings: Sequence[tuple[int, Postings]]) -> tuple[Numbers, Numbers, Array]:
    """Term by term: the terms' places in the plan, the numbers, the counts."""
    sizes = [len(each.numbers) for _, each in postings]
    return (
        np.repeat([place for place, _ in postings], sizes),
        np.concatenate([each.numbers for _, each in postings], dtype=np.int64),
        np.concatenate([each.counts for _, each in postings], dtype=np.float64),
    )
