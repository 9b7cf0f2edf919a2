"""Sentence priors: the probability of a sentence before any query is known."""

from esr.priors import importance, length  # noqa: F401  registers them
from esr.priors.prior import PRIORS, Prior, get

__all__ = ["PRIORS", "Prior", "get"]
