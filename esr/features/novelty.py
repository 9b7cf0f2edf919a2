"""How much of a sentence is new in its document."""

from __future__ import annotations

from esr.features.feature import Feature, FeatureInput, Values, register


def compute(inputs: FeatureInput) -> Values:
    """The share of a sentence's distinct terms that no earlier sentence has; the title does not count."""
    earlier: set[str] = set()
    shares: list[float | None] = []
    for terms in inputs.sentence_terms:
        shares.append(len(terms - earlier) / len(terms) if terms else None)
        earlier |= terms
    return shares


register(
    Feature(
        "novelty",
        "share of the sentence's terms that its document has not used before; 1 for the first sentence",
        "esr; new words, Allan, Wade & Bolivar 2003",
        compute,
    )
)
