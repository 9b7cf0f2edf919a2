"""Boosts: what a query says beyond its words. Importing this package registers them."""

from esr.ranking.boosts import answer_type, feedback, speech, variants
from esr.ranking.boosts.boost import (
    BOOSTS,
    WEIGHT,
    Boost,
    BoostQuery,
    Expansion,
    Settings,
    from_json,
    get,
    parse,
    register,
    to_json,
    weight_parameter,
)

for _boost in (answer_type.ANSWER_TYPE, feedback.FEEDBACK, speech.SPEECH_BOOST, variants.VARIANTS):
    register(_boost)

__all__ = [
    "BOOSTS",
    "WEIGHT",
    "Boost",
    "BoostQuery",
    "Expansion",
    "Settings",
    "from_json",
    "get",
    "parse",
    "to_json",
    "weight_parameter",
]
