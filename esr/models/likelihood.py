"""Shared by the language models: query likelihood, p(t|C) and the shares of contexts.

Source: Fernández, Losada & Azzopardi 2011; docs/formulas.md, A.1 and section 0.
"""

from __future__ import annotations

from typing import NamedTuple

from esr.errors import UsageError
from esr.models.model import Context, Query, Settings
from esr.parameter import Parameter
from esr.plans.plan import PlanTerm

ALL_CONTEXTS: tuple[Context, ...] = ("document", "surrounding", "both")

BACKGROUND = Parameter(
    "background",
    "p(t|C) from occurrences, or from the documents that contain the term",
    "occurrences",
    choices=("occurrences", "documents"),
)
MU_GRID = (1.0, 5.0, 10.0, 25.0, 50.0, 100.0, 250.0, 500.0, 1000.0, 2500.0, 5000.0, 10000.0)
NU = Parameter(
    "nu",
    "share of the surrounding sentences, beside the document's",
    0.2,
    only_with="both",
    grid=(0.0, 0.1, 0.2, 0.3, 0.4),
)


def mu_parameter(default: float = 30.0) -> Parameter:
    return Parameter(
        "mu", "Dirichlet smoothing, in terms", default, high=float("inf"), open_low=True, grid=MU_GRID
    )


def weighted_terms(settings: Settings, query: Query, scale: float = 1.0) -> tuple[PlanTerm, ...]:
    """The query's terms with the weight c(t,q) * scale and the background p(t|C)."""
    collection, statistics = query.statistics.collection, query.statistics.terms
    background = collection.background
    if settings.choice("background") == "documents":
        background = collection.background_by_documents
    return tuple(
        [PlanTerm(term, count * scale, background(statistics[term])) for term, count in query.counts.items()]
    )


class ContextShares(NamedTuple):
    surrounding: float
    document: float


def context_shares(settings: Settings, share: float) -> ContextShares:
    """`share` for a single context; with both, `share` for the document and `nu` for the surrounding."""
    if settings.context == "surrounding":
        return ContextShares(share, 0.0)
    return ContextShares(settings.nu, share)


def check_at_most_one(name: str, total: float, *, strictly: bool = False) -> None:
    """Raise UsageError, naming the sum, if these shares exceed 1, or with `strictly` if they reach it."""
    tolerance = 1e-12
    if total > 1.0 + tolerance or (strictly and total > 1.0 - tolerance):
        raise UsageError(f"{name} must be {'below' if strictly else 'at most'} 1, not {total:g}")
