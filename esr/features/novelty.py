"""How much of a sentence its document has not said before."""

from __future__ import annotations

from esr.features.feature import Feature, Reading, Values, register


def values(reading: Reading) -> Values:
    """The share of a sentence's distinct terms that no earlier sentence has; the title does not count."""
    seen: set[str] = set()
    shares: list[float | None] = []
    for terms in reading.sentence_terms:
        shares.append(len(terms - seen) / len(terms) if terms else None)
        seen |= terms
    return shares


register(
    Feature(
        "novelty",
        "share of the sentence's terms that its document has not used before; 1 for the first sentence",
        "esr; new words, Allan, Wade & Bolivar 2003",
        values,
    )
)
