"""The boost `answer_type`: sentences with a name or a number of the type that a question asks for."""

from __future__ import annotations

import re

from esr.errors import UsageError
from esr.index.questions import Features
from esr.ranking.boosts.boost import Boost, BoostQuery, Expansion, Settings, weight_parameter

PERSON, PLACE, COMPANY, NUMBER = "pers", "loc", "org", "numbers"

_NOUNS = {
    PERSON: "person actor actress artist author composer director emperor king leader man musician "
    "philosopher player politician pope president prince queen scientist singer woman writer",
    PLACE: "area city continent country county district island location nation neighborhood place province "
    "region river state street town village",
    COMPANY: "agency band club company corporation government group institution league newspaper "
    "organization organisation party school team university",
    NUMBER: "age amount century date day decade distance height month number percent percentage population "
    "portion year",
}
_FEATURE_OF_NOUN = {noun: feature for feature, nouns in _NOUNS.items() for noun in nouns.split()}
_FEATURE_OF_INTERROGATIVE = {"who": PERSON, "whom": PERSON, "whose": PERSON, "where": PLACE, "when": NUMBER}
_INTERROGATIVE = re.compile(
    r"\b(who|whom|whose|where|when|why|what|which|how)\b(?:'s)?(?:\s+(\w+))?", re.IGNORECASE
)
_OPENING = re.compile(r"\W*(?:(?:about|at|by|for|from|in|of|on|since|to|until|with)\s+)?", re.IGNORECASE)


def answer_feature(text: str) -> str | None:
    """The feature that answers to a question have, None if it is unclear or the text is no question.

    The first interrogative and the word after it decide, a coarse version of the classes of Li & Roth 2002. A
    question ends with a question mark, or begins with an interrogative (perhaps after a preposition) and does
    not end with a full stop.
    """
    match = _INTERROGATIVE.search(text)
    if match is None:
        return None
    opening = _OPENING.match(text)
    begins = opening is not None and opening.end() == match.start()
    end = text.rstrip()[-1]
    if end != "?" and (not begins or end == "."):
        return None
    word, noun = match[1].lower(), (match[2] or "").lower()
    if word in _FEATURE_OF_INTERROGATIVE:
        return _FEATURE_OF_INTERROGATIVE[word]
    if word == "how":
        return NUMBER if noun in ("many", "much", "old", "long", "far", "tall") else None
    return _FEATURE_OF_NOUN.get(noun) if word in ("what", "which") else None


def expand_answer_type(settings: Settings, query: BoostQuery) -> Expansion:
    """Expand by a step on the answer's feature, if the index has it.

    Raises UsageError if the index has none of the features that answers may have.
    """
    stored = query.index.status(Features())
    if not any(feature in stored for feature in _NOUNS):
        raise UsageError(
            f"boost answer_type needs one of the features {', '.join(_NOUNS)}, and no sentence has any: "
            "run esr enrich"
        )
    feature = answer_feature(query.text)
    return Expansion(features=[feature] if feature is not None and feature in stored else [])


ANSWER_TYPE = Boost(
    "answer_type",
    "w for sentences with a person, a place, an organisation or a number, if a question asks for one: "
    "who, where, which company, when, how many; it needs esr enrich",
    "after the classes of Li & Roth 2002",
    expand_answer_type,
    (weight_parameter(1.0, (0.0, 0.2, 0.5, 1.0, 1.5, 2.0)),),
)
