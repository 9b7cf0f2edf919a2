"""answer_type: a question for a person, a place or a number favours sentences that have one.

What is asked for is told by the question's first interrogative and the word behind it, as a rough sort of
the classes of Li & Roth 2002. The sentences' side are the features `pers`, `loc`, `org` and `numbers`: a plan
gets no more than a step on one of them.
"""

from __future__ import annotations

import re

from esr.boosts.boost import Added, Asked, Boost, Settings, register, weight
from esr.errors import UsageError

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
_OF_NOUN = {noun: feature for feature, nouns in _NOUNS.items() for noun in nouns.split()}
_PLAIN = {"who": PERSON, "whom": PERSON, "whose": PERSON, "where": PLACE, "when": NUMBER}
_INTERROGATIVE = re.compile(
    r"\b(who|whom|whose|where|when|why|what|which|how)\b(?:'s)?(?:\s+(\w+))?", re.IGNORECASE
)
_OPENING = re.compile(r"\W*(?:(?:about|at|by|for|from|in|of|on|since|to|until|with)\s+)?", re.IGNORECASE)


def wanted(text: str) -> str | None:
    """The feature that an answer has, or None where that cannot be told or the text is no question.

    A question ends with a question mark, or begins with an interrogative (and perhaps a preposition before
    it) and does not end with a full stop.
    """
    found = _INTERROGATIVE.search(text)
    if found is None:
        return None
    opening = _OPENING.match(text)
    begins = opening is not None and opening.end() == found.start()
    end = text.rstrip()[-1]
    if end != "?" and (not begins or end == "."):
        return None
    word, noun = found[1].lower(), (found[2] or "").lower()
    if word in _PLAIN:
        return _PLAIN[word]
    if word == "how":
        return NUMBER if noun in ("many", "much", "old", "long", "far", "tall") else None
    return _OF_NOUN.get(noun) if word in ("what", "which") else None


def add(settings: Settings, asked: Asked) -> Added:
    """A step on the wanted feature, where the index has it. Raises UsageError if it has none of them."""
    known = asked.index.features()
    if not any(feature in known for feature in _NOUNS):
        raise UsageError(
            f"boost answer_type needs one of the features {', '.join(_NOUNS)}, and no sentence has any: "
            "esr enrich makes them"
        )
    feature = wanted(asked.text)
    return Added(features=[feature] if feature is not None and feature in known else [])


register(
    Boost(
        "answer_type",
        "w for sentences with a person, a place, an organisation or a number, if a question asks for one: "
        "who, where, which company, when, how many; it needs esr enrich",
        "after the classes of Li & Roth 2002",
        add,
        (weight(1.0, (0.0, 0.2, 0.5, 1.0, 1.5, 2.0)),),
    )
)
