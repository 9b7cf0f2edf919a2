"""Evidence: the exact counts and lengths that scores are computed from, as arrays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from esr.plans.plan import FIELDS, FieldName

Array = npt.NDArray[np.float64]


class Evidence(Struct, frozen=True):
    """The evidence of n sentences for T terms.

    `counts[field]` has shape (T, n): occurrences of each term in each sentence's field.
    `lengths[field]` has shape (n,): terms in the field.
    `columns[name]` has shape (n,): a stored number, such as the log prior `importance`.
    Fields that a plan does not use may be left out.
    """

    counts: Mapping[FieldName, Array]
    lengths: Mapping[FieldName, Array]
    columns: Mapping[str, Array]

    def take(self, places: npt.NDArray[np.intp]) -> Evidence:
        """The evidence of the sentences at these places, in this order."""
        return Evidence(
            {field: counts[:, places] for field, counts in self.counts.items()},
            {field: lengths[places] for field, lengths in self.lengths.items()},
            {name: column[places] for name, column in self.columns.items()},
        )

    @property
    def nbytes(self) -> int:
        """Memory in use."""
        arrays = (*self.counts.values(), *self.lengths.values(), *self.columns.values())
        return sum(array.nbytes for array in arrays)


def no_evidence(terms: int, columns: Iterable[str]) -> Evidence:
    """The evidence of no sentence for that many terms."""
    return Evidence(
        {field: np.zeros((terms, 0)) for field in FIELDS},
        {field: np.zeros(0) for field in FIELDS},
        {name: np.zeros(0) for name in columns},
    )


def concatenate(parts: Sequence[Evidence]) -> Evidence:
    """The evidence of the same terms for several runs of sentences, one after another. At least one run."""
    first = parts[0]
    return Evidence(
        {field: np.concatenate([part.counts[field] for part in parts], axis=1) for field in first.counts},
        {field: np.concatenate([part.lengths[field] for part in parts]) for field in first.lengths},
        {name: np.concatenate([part.columns[name] for part in parts]) for name in first.columns},
    )
