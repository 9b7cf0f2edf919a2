"""Sentence priors: what a sentence is worth before any query is known."""

from esr.priors.prior import PRIORS, Prior, get
from esr.priors import importance, length  # noqa: F401  registers them

__all__ = ["PRIORS", "Prior", "get"]
