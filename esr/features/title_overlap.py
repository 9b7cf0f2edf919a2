"""How much of its document's title a sentence repeats."""

from __future__ import annotations

from esr.features.feature import Feature, FeatureInput, Values, register


def compute(inputs: FeatureInput) -> Values:
    """The share of the title's distinct terms that a sentence has. Unknown without a title."""
    title = set(inputs.terms(inputs.document.title or ""))
    if not title:
        return [None] * len(inputs.document.sentences)
    return [len(title & terms) / len(title) for terms in inputs.sentence_terms]


register(
    Feature(
        "title_overlap",
        "share of the title's terms that the sentence has",
        "esr; the title method, Edmundson 1969",
        compute,
        ("title",),
    )
)
