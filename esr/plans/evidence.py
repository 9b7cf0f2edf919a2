"""What a plan is computed from: exact counts and lengths, as arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from esr.plans.plan import FieldName

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Evidence:
    """Of n sentences and T terms.

    `counts[field]` has shape (T, n): occurrences of each term in each sentence's field.
    `lengths[field]` has shape (n,): terms in the field.
    `columns[name]` has shape (n,): a stored number, such as the log prior `importance`.
    Fields that a plan does not look at may be left out.
    """

    counts: Mapping[FieldName, Array]
    lengths: Mapping[FieldName, Array]
    columns: Mapping[str, Array]

    @property
    def nbytes(self) -> int:
        """Memory in use."""
        arrays = (*self.counts.values(), *self.lengths.values(), *self.columns.values())
        return sum(array.nbytes for array in arrays)


def taken(evidence: Evidence, order: npt.NDArray[np.intp]) -> Evidence:
    """The evidence of some of its sentences, in this order."""
    return Evidence(
        {field: counts[:, order] for field, counts in evidence.counts.items()},
        {field: lengths[order] for field, lengths in evidence.lengths.items()},
        {name: column[order] for name, column in evidence.columns.items()},
    )


def joined(rows: Sequence[Evidence]) -> Evidence:
    """Evidence of the same terms for several runs of sentences, one after another. At least one run."""
    first = rows[0]
    return Evidence(
        {field: np.concatenate([row.counts[field] for row in rows], axis=1) for field in first.counts},
        {field: np.concatenate([row.lengths[field] for row in rows]) for field in first.lengths},
        {name: np.concatenate([row.columns[name] for row in rows]) for name in first.columns},
    )
