"""The exact evidence for sentences of one segment: counts, lengths and stored columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from esr.engines.segments.reader.commit_statistics import IMPORTANCE
from esr.engines.segments.reader.snapshot import Snapshot
from esr.engines.segments.store.segment import NO_POSTINGS, Postings, Segment
from esr.plans.evidence import Array, Evidence
from esr.plans.plan import FEATURE_PREFIX, FieldName, Plan

Numbers = npt.NDArray[np.int64]


def read_evidence(
    terms: Sequence[str],
    fields: Iterable[FieldName],
    columns: Iterable[str],
    segment: Segment,
    importance: dict[str, Array],
    numbers: Numbers,
) -> Evidence:
    """The evidence for the sentences of these numbers. `importance` holds the computed columns.

    The column `features.x` is NaN where the feature is not known.
    """
    needed = set(fields) | {"sentence"}
    term_numbers = [segment.terms.find(term) for term in terms]
    document = segment.column("document")[numbers]
    own, around = _sentence_counts(segment, term_numbers, numbers, "surrounding" in needed)
    counts: dict[FieldName, Array] = {"sentence": own}
    lengths: dict[FieldName, Array] = {"sentence": segment.column("length")[numbers].astype(float)}
    if around is not None:
        counts["surrounding"] = around
        lengths["surrounding"] = segment.column("surrounding_length")[numbers].astype(float)
    if "document" in needed:
        counts["document"] = np.empty((len(terms), len(numbers)))
        size = segment.document_count
        for row, number in enumerate(term_numbers):
            counts["document"][row] = _dense(segment.document_postings(number), size)[document]
        lengths["document"] = segment.column("document_length")[document].astype(float)
    stored = {name: read_column(name, segment, importance, numbers) for name in columns}
    return Evidence(counts, lengths, stored)


def read_columns(plan: Plan, snapshot: Snapshot, ordinals: Numbers) -> dict[str, Array]:
    """The columns that a plan looks at, of these sentences of a commit, ascending."""
    names = list(dict.fromkeys(static.column for static in plan.statics))
    columns = {name: np.empty(len(ordinals)) for name in names}
    bases = snapshot.statistics.sentence_bases
    borders = np.searchsorted(ordinals, bases)
    for owner, segment in enumerate(snapshot.segments):
        if borders[owner] < borders[owner + 1]:
            own = slice(int(borders[owner]), int(borders[owner + 1]))
            importance = read_importance(snapshot, names, owner)
            for name in names:
                columns[name][own] = read_column(name, segment, importance, ordinals[own] - bases[owner])
    return columns


def read_importance(snapshot: Snapshot, columns: Iterable[str], owner: int) -> dict[str, Array]:
    """The importance priors of a segment's sentences, if one of the columns is of them."""
    return snapshot.statistics.importance[owner] if set(columns) & set(IMPORTANCE) else {}


def read_column(name: str, segment: Segment, importance: dict[str, Array], numbers: Numbers) -> Array:
    """A column of these sentences, of shape (n,): NaN where it is not known."""
    if name.startswith(FEATURE_PREFIX):
        return segment.enrichment.feature(name.removeprefix(FEATURE_PREFIX), numbers)
    values: Array
    if name == "length":
        values = segment.column("length")[numbers].astype(float)
    elif name == "position":
        values = (numbers - segment.column("first")[segment.column("document")[numbers]]).astype(float)
    else:
        values = importance[name][numbers]
    return values


def _sentence_counts(
    segment: Segment, term_numbers: Sequence[int | None], numbers: Numbers, with_surrounding: bool
) -> tuple[Array, Array | None]:
    own = np.empty((len(term_numbers), len(numbers)))
    around = np.empty_like(own) if with_surrounding else None
    # A border has no neighbour: it looks at the slot behind the last sentence, which is always 0.
    size = segment.sentence_count
    before = np.where(segment.has_previous[numbers], numbers - 1, size)
    after = np.where(np.append(segment.has_previous, False)[numbers + 1], numbers + 1, size)
    for row, number in enumerate(term_numbers):
        dense = _dense(segment.sentence_postings(number), size + 1)
        own[row] = dense[numbers]
        if around is not None:
            around[row] = own[row] + dense[before] + dense[after]
    return own, around


def _dense(postings: Postings, size: int) -> Array:
    dense = np.zeros(size)
    if postings is not NO_POSTINGS:
        dense[postings.numbers] = postings.counts
    return dense
