"""How much of its document's title a sentence says."""

from __future__ import annotations

from esr.features.feature import Feature, Reading, Values, register


def values(reading: Reading) -> Values:
    """The share of the title's distinct terms that a sentence has. Not known without a title."""
    title = set(reading.terms(reading.document.title or ""))
    if not title:
        return [None] * len(reading.document.sentences)
    return [len(title & terms) / len(title) for terms in reading.sentence_terms]


register(
    Feature(
        "title_overlap",
        "share of the title's terms that the sentence has",
        "esr; the title method, Edmundson 1969",
        values,
        ("title",),
    )
)
