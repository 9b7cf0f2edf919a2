"""What the static parts of plans add in documents and in sentences, kept for all searches of a commit."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial, reduce
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from esr.engines.embedded.search.evidence import read_column, read_importance
from esr.engines.embedded.search.search_memory import SearchMemory
from esr.engines.segments.reader.document_table import reduce_by_document
from esr.engines.segments.reader.snapshot import Snapshot
from esr.plans.evaluate import score_static
from esr.plans.evidence import Array
from esr.plans.plan import Static


class StaticBounds(NamedTuple):
    """The bounds of one static, or of several together.

    `upper_bounds` has the most it adds in each document, of shape (D,), -inf where no sentence has a value.
    `greatest` is the most that it adds or takes anywhere. `has_value` says which sentences have a value, of
    shape (sentences,); None if all have one.
    """

    upper_bounds: Array
    greatest: float
    has_value: npt.NDArray[np.bool_] | None

    @property
    def nbytes(self) -> int:
        return self.upper_bounds.nbytes + (0 if self.has_value is None else self.has_value.nbytes)


class StaticCache:
    """The statics that searches of a snapshot asked for. They depend on features, so on layers too."""

    def __init__(self, snapshot: Snapshot, memory: SearchMemory) -> None:
        self._snapshot = snapshot
        self._memory = memory
        self._token = object()
        """Tells what is kept of this snapshot from what is kept of others, and keeps none of them alive."""

    def bounds(self, statics: Sequence[Static]) -> StaticBounds:
        """The bounds of all these statics together."""
        parts = [self._bounds_of(static) for static in statics]
        masks = [part.has_value for part in parts if part.has_value is not None]
        nothing = np.zeros(len(self._snapshot.statistics.document_table.size))
        return StaticBounds(
            reduce(np.add, (part.upper_bounds for part in parts), nothing),
            sum(part.greatest for part in parts),
            reduce(np.logical_and, masks) if masks else None,
        )

    def scores(self, statics: Sequence[Static]) -> npt.NDArray[np.float32]:
        """What all these statics add to each sentence, of shape (sentences,); -inf where one has no value."""
        key = tuple(statics)
        return self._memory.get((self._token, key), partial(self._sum_scores, key))

    def _sum_scores(self, statics: Sequence[Static]) -> npt.NDArray[np.float32]:
        total = reduce(np.add, map(self._scores_of, statics))
        return np.where(np.isfinite(total), total, -np.inf).astype(np.float32)

    def _bounds_of(self, static: Static) -> StaticBounds:
        return self._memory.get((self._token, static), partial(self._compute_bounds, static))

    def _compute_bounds(self, static: Static) -> StaticBounds:
        scores = self._scores_of(static)
        has_value = np.isfinite(scores)
        greatest = float(np.abs(scores[has_value]).max(initial=0.0))
        scores[~has_value] = -np.inf
        table = self._snapshot.statistics.document_table
        upper_bounds = reduce_by_document(np.maximum, scores, table, -np.inf)
        return StaticBounds(upper_bounds, greatest, None if has_value.all() else has_value)

    def _scores_of(self, static: Static) -> Array:
        """What one static adds to each sentence, of shape (sentences,). Not finite where it has no value."""
        owners = range(len(self._snapshot.segments))
        return np.concatenate([np.zeros(0), *(self._segment_scores(static, owner) for owner in owners)])

    def _segment_scores(self, static: Static, owner: int) -> Array:
        segment = self._snapshot.segments[owner]
        importance = read_importance(self._snapshot, [static.column], owner)
        column = read_column(static.column, segment, importance, np.arange(segment.sentence_count))
        return score_static(static, column)
