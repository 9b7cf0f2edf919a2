"""What a plan is computed from: exact counts and lengths, as arrays."""

from __future__ import annotations

from collections.abc import Mapping
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
