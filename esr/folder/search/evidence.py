"""The exact evidence for sentences of a segment, and the contributions of static scores to scores and
bounds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial, reduce
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from esr.folder.format.files import Numbers
from esr.folder.format.segment import NO_DATE, Postings, Segment
from esr.folder.format.snapshot import IMPORTANCE, Snapshot, reduce_by_document
from esr.index.limits import SearchMemory
from esr.plans.evaluate import Array, Evidence, apply_static_score
from esr.plans.plan import DAY, FEATURE_PREFIX, FieldName, Plan, StaticScore


def read_evidence(
    terms: Sequence[str],
    fields: Iterable[FieldName],
    columns: Iterable[str],
    segment: Segment,
    importance: dict[str, Array],
    numbers: Numbers,
) -> Evidence:
    """Read the evidence for the sentences with these numbers. `importance` holds the computed columns.

    The column `features.x` is NaN where the feature is unknown.
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
            counts["document"][row] = _count(segment.document_postings(number), document, size)
        lengths["document"] = segment.column("document_length")[document].astype(float)
    stored = {name: read_column(name, segment, importance, numbers) for name in columns}
    return Evidence(counts, lengths, stored)


def read_columns(plan: Plan, snapshot: Snapshot, ordinals: Numbers) -> dict[str, Array]:
    """Read the columns of a plan's static scores for the sentences of a commit with these ordinals,
    ascending.
    """
    names = list(dict.fromkeys(static_score.column for static_score in plan.static_scores))
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
    """The importance priors of a segment's sentences, if one of the columns needs them."""
    return snapshot.statistics.importance[owner] if set(columns) & set(IMPORTANCE) else {}


def read_column(name: str, segment: Segment, importance: dict[str, Array], numbers: Numbers) -> Array:
    """Read a column of these sentences, of shape (n,), NaN where it is unknown."""
    if name.startswith(FEATURE_PREFIX):
        return segment.enrichment.feature(name.removeprefix(FEATURE_PREFIX), numbers)
    values: Array
    if name == "length":
        values = segment.column("length")[numbers].astype(float)
    elif name == DAY:
        dates = segment.column("date")[segment.column("document")[numbers]]
        values = np.where(dates == NO_DATE, np.nan, dates / 86_400_000)
    elif name == "position":
        values = (numbers - segment.column("first")[segment.column("document")[numbers]]).astype(float)
    else:
        values = importance[name][numbers]
    return values


def _sentence_counts(
    segment: Segment, term_numbers: Sequence[int | None], numbers: Numbers, with_surrounding: bool
) -> tuple[Array, Array | None]:
    size, wanted = segment.sentence_count, numbers
    if with_surrounding:
        wanted = np.concatenate([numbers, np.maximum(numbers - 1, 0), np.minimum(numbers + 1, size - 1)])
    counts = np.empty((len(term_numbers), len(wanted)))
    for row, number in enumerate(term_numbers):
        counts[row] = _count(segment.sentence_postings(number), wanted, size)
    if not with_surrounding:
        return counts, None
    own, before, after = np.split(counts, 3, axis=1)
    has_previous = segment.has_previous[numbers]
    has_next = np.append(segment.has_previous, False)[numbers + 1]
    return own, own + has_previous * before + has_next * after


_MANY = 64
"""If at least one in this many is wanted, a column of all counts is faster than a search for each."""


def _count(postings: Postings, numbers: Numbers, size: int) -> Array:
    """The counts of a term in these of `size` sentences or documents, of shape (n,)."""
    if not len(postings.numbers):
        return np.zeros(len(numbers))
    if len(numbers) * _MANY > size:
        counts = np.zeros(size)
        counts[postings.numbers] = postings.counts
        return counts[numbers]
    # In the type of the postings: a search for numbers of another type would copy all postings.
    wanted = np.minimum(numbers, postings.numbers[-1]).astype(postings.numbers.dtype)
    places = np.searchsorted(postings.numbers, wanted)
    return np.where(postings.numbers[places] == numbers, postings.counts[places], 0.0)


class StaticBounds(NamedTuple):
    """The bounds of one or more static scores.

    `upper_bounds` is the most that they add in each document, of shape (D,), -inf if none of its sentences
    has a value. `greatest` is the greatest absolute value that they add anywhere. `has_value` is a mask of
    the sentences with a value, None if all have one.
    """

    upper_bounds: Array
    greatest: float
    has_value: npt.NDArray[np.bool_] | None

    @property
    def nbytes(self) -> int:
        return self.upper_bounds.nbytes + (0 if self.has_value is None else self.has_value.nbytes)


class StaticScoreCache:
    """The contributions of static scores in a snapshot, kept in memory.

    They depend on features, and so on layers.
    """

    def __init__(self, snapshot: Snapshot, memory: SearchMemory) -> None:
        self._snapshot = snapshot
        self._memory = memory
        self._token = object()
        """Separates the entries of this snapshot in the shared memory, without keeping it alive."""

    def bounds(self, static_scores: Sequence[StaticScore]) -> StaticBounds:
        """The bounds of the sum of these static scores."""
        parts = [self._bounds_of(static_score) for static_score in static_scores]
        masks = [part.has_value for part in parts if part.has_value is not None]
        nothing = np.zeros(len(self._snapshot.statistics.document_table.size))
        return StaticBounds(
            reduce(np.add, (part.upper_bounds for part in parts), nothing),
            sum(part.greatest for part in parts),
            reduce(np.logical_and, masks) if masks else None,
        )

    def scores(self, static_scores: Sequence[StaticScore]) -> npt.NDArray[np.float32]:
        """The sum of these static scores for each sentence, of shape (sentences,), -inf without a value."""
        key = tuple(static_scores)
        return self._memory.get((self._token, key), partial(self._sum_scores, key))

    def _sum_scores(self, static_scores: Sequence[StaticScore]) -> npt.NDArray[np.float32]:
        total = reduce(np.add, map(self._scores_of, static_scores))
        return np.where(np.isfinite(total), total, -np.inf).astype(np.float32)

    def _bounds_of(self, static_score: StaticScore) -> StaticBounds:
        return self._memory.get((self._token, static_score), partial(self._compute_bounds, static_score))

    def _compute_bounds(self, static_score: StaticScore) -> StaticBounds:
        scores = self._scores_of(static_score)
        has_value = np.isfinite(scores)
        greatest = float(np.abs(scores[has_value]).max(initial=0.0))
        scores[~has_value] = -np.inf
        table = self._snapshot.statistics.document_table
        upper_bounds = reduce_by_document(np.maximum, scores, table, -np.inf)
        return StaticBounds(upper_bounds, greatest, None if has_value.all() else has_value)

    def _scores_of(self, static_score: StaticScore) -> Array:
        """A static score's contribution to each sentence, of shape (sentences,), not finite without a
        value.
        """
        owners = range(len(self._snapshot.segments))
        return np.concatenate([np.zeros(0), *(self._segment_scores(static_score, owner) for owner in owners)])

    def _segment_scores(self, static_score: StaticScore, owner: int) -> Array:
        segment = self._snapshot.segments[owner]
        importance = read_importance(self._snapshot, [static_score.column], owner)
        column = read_column(static_score.column, segment, importance, np.arange(segment.sentence_count))
        return apply_static_score(static_score, column)
