"""What terms add at most in each document, kept for the ranking that is asked for most.

The scripts of `bounding.py` make such numbers for any ranking, document by document, in every search. For one
mixture they can be made before: then Elasticsearch adds them up by itself, which takes a quarter of the time.
They hold while the collection is the one that they were made for, p(t|C) being a part of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from esr.engines.elasticsearch.store.peaks import number
from esr.engines.segments.reader.snapshot import Snapshot
from esr.engines.segments.reader.term_bounds import all_upper_bounds, round_outward
from esr.plans.bounds import Bound
from esr.plans.evidence import Array
from esr.plans.plan import Affine, Mixture, Plan
from esr.plans.statistics import CollectionStatistics, Statistics

LEAST = 2.0**-10
"""What a term adds at least: with nothing it would not be found."""
EMPTY = " "
"""No term: the impact of a document's best length, above `Bound.least`."""
_PARTS = ("sentence", "surrounding", "document", "collection")


class Impacts:
    """The field `impacts` of the documents of a spool's segment."""

    def __init__(self, spool: Snapshot, owner: int, transform: Mixture) -> None:
        segment, table = spool.segments[owner], spool.statistics.document_table
        documents = segment.column("document_numbers")
        order = np.argsort(documents, kind="stable")
        self._ends = np.cumsum(np.bincount(documents, minlength=len(segment.documents))).tolist()
        terms = np.arange(len(segment.terms), dtype=np.int32)
        self._terms = np.repeat(terms, np.diff(segment.column("document_starts")))[order]
        self._codes = _codes(all_upper_bounds(spool.statistics, owner, transform))[order]
        self._names = segment.terms.several(terms)
        mine = slice(int(table.owners[owner]), int(table.owners[owner + 1]))
        bound = Bound(transform, spool.statistics.collection.longest_sentence)
        self._empty = _codes(bound.ends(table.shortest[mine], table.longest[mine])[0] - bound.least)

    def of(self, document: int) -> dict[str, float]:
        """Of the document of this number."""
        cut = slice(self._ends[document - 1] if document else 0, self._ends[document])
        names = map(self._names.__getitem__, self._terms[cut].tolist())
        found = dict(zip(names, map(_number, self._codes[cut].tolist()), strict=True))
        found[EMPTY] = _number(int(self._empty[document]))
        return found


def told(transform: Mixture, collection: CollectionStatistics) -> dict[str, Any]:
    """What an index says of its impacts."""
    return {
        "mu": transform.mu,
        **{name: list(getattr(transform, name)) for name in _PARTS},
        "documents": collection.documents,
        "sentences": collection.sentences,
        "occurrences": collection.occurrences,
    }


def mixture(told: Mapping[str, Any]) -> Mixture:
    """What an index says that its impacts are of."""
    return Mixture(told["mu"], *(Affine(*told[name]) for name in _PARTS))


def possible(transform: Mixture, collection: CollectionStatistics) -> bool:
    """Whether there are bounds at all."""
    return Bound(transform, collection.longest_sentence).impossible([]) is None


def fit(kept: Mapping[str, Any], plan: Plan, known: Statistics) -> bool:
    """Whether the impacts that an index has are those of a plan. `known`: of its terms."""
    if not isinstance(plan.transform, Mixture) or kept != told(plan.transform, known.collection):
        return False
    return all(
        term.own
        and term.weight > 0
        and term.term in known.terms
        and term.background == known.collection.share(known.terms[term.term])
        for term in plan.terms
    )


def _codes(values: Array) -> npt.NDArray[np.int32]:
    """The upper bits of floats that are no smaller: a sparse vector's postings keep 16 bits of each."""
    codes: npt.NDArray[np.int32] = -(-round_outward(np.maximum(values, LEAST), up=True).view(np.int32) >> 15)
    return codes


_number = lru_cache(1 << 14)(number)
