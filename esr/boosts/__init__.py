"""Boosts: what a query's words imply beyond themselves, added to its plan. One file each, and a registry."""

from esr.boosts import answer_type, feedback, variants  # noqa: F401  registers them
from esr.boosts.boost import (
    BOOSTS,
    WEIGHT,
    Boost,
    BoostQuery,
    Expansion,
    from_json,
    get,
    parse,
    to_json,
)

__all__ = [
    "BOOSTS",
    "WEIGHT",
    "Boost",
    "BoostQuery",
    "Expansion",
    "from_json",
    "get",
    "parse",
    "to_json",
]
