"""How impacts are computed: by the kernel, in one pass over the postings, or by numpy where it is not loaded.

Both give the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from esr.engines.embedded.search.kernel.layout import HYPERBOLA, LOGARITHM, MIXTURE
from esr.engines.embedded.search.kernel_loader import LOADER
from esr.engines.embedded.search.kernel_tables import KernelTables
from esr.engines.segments.reader.commit_statistics import CommitStatistics
from esr.engines.segments.reader.postings import read_postings
from esr.plans.bounds import Bound
from esr.plans.evaluate import saturate
from esr.plans.evidence import Array
from esr.plans.plan import Mixture, PlanTerm, Saturation
from esr.plans.rounding import round_outward

Values = npt.NDArray[np.float32]


class ImpactComputation:
    """The impacts of one transform in one commit, kept nowhere."""

    def __init__(
        self,
        transform: Mixture | Saturation,
        statistics: CommitStatistics,
        tables: Callable[[], KernelTables] | None = None,
    ) -> None:
        """Without the tables of the kernel, numpy computes them."""
        self.bound = Bound(transform, statistics.collection.longest_sentence)
        self._transform = transform
        self.statistics = statistics
        self._tables = tables
        self._fields = set(transform.fields())

    @cached_property
    def transform_numbers(self) -> tuple[int, Array]:
        """The shape of the transform, and its parameters."""
        transform = self._transform
        fields = (transform.sentence, transform.surrounding, transform.document)
        numbers = [number for field in fields for number in field]
        if isinstance(transform, Mixture):
            return MIXTURE, np.array([transform.mu, *numbers, *transform.collection])
        shape = LOGARITHM if transform.k1 is None else HYPERBOLA
        return shape, np.array([transform.k1 or 0.0, *numbers])

    def compute(self, terms: Sequence[PlanTerm], sizes: Sequence[int], impacts: Values) -> list[float]:
        """Set `impacts` to those of these terms, one after another; `sizes` are their numbers of documents.

        Gives the greatest of each term, whatever its sign.
        """
        if LOADER.kernel is not None and self._tables is not None:
            return self._compute_by_kernel(terms, sizes, impacts, self._tables())
        greatest, start = [], 0
        for term, size in zip(terms, sizes, strict=True):
            postings = read_postings(self.statistics, term.term, self._fields)
            values = round_outward(self.bound.upper_bounds(term, *postings), up=term.weight >= 0)
            impacts[start : start + size] = values
            greatest.append(float(np.abs(values).max(initial=0.0)))
            start += size
        return greatest

    def _compute_by_kernel(
        self, terms: Sequence[PlanTerm], sizes: Sequence[int], impacts: Values, tables: KernelTables
    ) -> list[float]:
        kernel, find = LOADER.kernel, self.statistics.find
        table = np.array([term[1:] for term in terms], np.float64)
        ranges = np.array([find(term.term).posting_ranges for term in terms], np.int64)
        evidence, greatest = np.empty(len(impacts)), np.empty(len(terms))
        shape, numbers = self.transform_numbers
        kernel.best_evidence(
            shape, numbers, self._evidence_table, table, ranges, tables.commit_group, evidence
        )
        if isinstance(self._transform, Mixture):
            values = np.log(evidence, out=evidence)
        else:
            values = saturate(self._transform, evidence)
        kernel.round_impacts(values, impacts, np.array([*accumulate(sizes)], np.int64), table, greatest)
        return list(map(float, greatest.tolist()))

    @cached_property
    def _evidence_table(self) -> Array:
        return self.bound.evidence_table()
