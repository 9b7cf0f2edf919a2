"""What the language models share: query likelihood, p(t|C) and the contexts' shares.

Source: Fernández, Losada & Azzopardi 2011; docs/formulas.md, A.1 and section 0.
"""

from __future__ import annotations

from typing import NamedTuple

from esr.errors import UsageError
from esr.models.model import Context, Query, Settings
from esr.parameter import Parameter
from esr.plans.plan import PlanTerm
from esr.plans.statistics import TermStatistics

ALL_CONTEXTS: tuple[Context, ...] = ("document", "surrounding", "both")

BACKGROUND = Parameter(
    "background",
    "p(t|C) from occurrences, or from the documents that hold the term",
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


def mu(default: float = 30.0) -> Parameter:
    return Parameter(
        "mu", "Dirichlet smoothing, in terms", default, high=float("inf"), open_low=True, grid=MU_GRID
    )


def terms(settings: Settings, query: Query, scale: float = 1.0) -> tuple[PlanTerm, ...]:
    """c(t,q) * scale as the weight, p(t|C) as the background."""
    statistics = query.statistics
    by_documents = settings.choice("background") == "documents"
    collection = statistics.collection

    def background(term: TermStatistics) -> float:
        return term.df / max(collection.document_terms, 1) if by_documents else collection.share(term)

    return tuple(
        PlanTerm(term, count * scale, background(statistics.terms[term]))
        for term, count in query.counts.items()
    )


class ContextShares(NamedTuple):
    surrounding: float
    document: float


def contexts(settings: Settings, share: float) -> ContextShares:
    """The share given to the one context, or to the document beside `nu` for the surrounding."""
    if settings.context == "surrounding":
        return ContextShares(share, 0.0)
    return ContextShares(settings.nu, share)


def at_most_one(what: str, total: float, *, strictly: bool = False) -> None:
    """Shares of one whole. Raises UsageError, naming the sum, if they exceed it."""
    rounding = 1e-12
    if total > 1.0 + rounding or (strictly and total > 1.0 - rounding):
        raise UsageError(f"{what} must be {'below' if strictly else 'at most'} 1, not {total:g}")
