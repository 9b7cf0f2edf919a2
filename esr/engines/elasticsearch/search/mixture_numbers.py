"""The parameters of a mixture as one list, which scripts read faster than names."""

from __future__ import annotations

from collections.abc import Iterable

from esr.plans.plan import Mixture, PlanTerm


def mixture_numbers(
    transform: Mixture,
    term: PlanTerm,
    own: Iterable[float],
    middle: Iterable[float],
    wide: Iterable[float],
) -> list[float]:
    """What esr-mixture-list-v1 and the scripts of the bounds read of a term; each reads one value more.

    `own`, `middle` and `wide` are two numbers each: a field's share at beta = 0, and its slope in beta.
    """
    numbers = [transform.mu, term.background, term.weight, *transform.collection]
    return [*numbers, *own, *middle, *wide]
