"""Features of form and position: figures, new terms, overlap with the title, length, and position.

The length is F_len of Fernández & Losada 2012 (docs/formulas.md, B.8). Length and position are stored with
every index, so they are registered without a function that computes them.
"""

from __future__ import annotations

import re

from esr.features.feature import Feature, FeatureInput, Values, register

# "1,200.50", "2017-02-07", "10:30", "3rd" and the 16 of "16-year-old" are one figure each. The figures of
# names are not: "F-16", "COVID-19", "G20".
_FIGURE = re.compile(r"(?<![^\W_])(?<![^\W\d_]-)\d+(?:[.,:/-]\d+)*")


def count_figures(inputs: FeatureInput) -> Values:
    return [float(len(_FIGURE.findall(sentence.text))) for sentence in inputs.document.sentences]


register(
    Feature("numbers", "number of figures: 1,200.50 is one, the 16 of F-16 is none", "esr", count_figures)
)


def compute_novelty(inputs: FeatureInput) -> Values:
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
        compute_novelty,
    )
)


def compute_title_overlap(inputs: FeatureInput) -> Values:
    """The share of the title's distinct terms that a sentence has; None without a title."""
    title = set(inputs.terms(inputs.document.title or ""))
    if not title:
        return [None] * len(inputs.document.sentences)
    return [len(title & terms) / len(title) for terms in inputs.sentence_terms]


register(
    Feature(
        "title_overlap",
        "share of the title's terms that the sentence has",
        "esr; the title method, Edmundson 1969",
        compute_title_overlap,
        ("title",),
    )
)


register(
    Feature(
        "len",
        "number of terms, stop words left out",
        "Fernández & Losada 2012, F_len",
        None,
        own_column="length",
    )
)


register(
    Feature(
        "position",
        "position of the sentence in its document, from 0",
        "esr; the location method, Edmundson 1969",
        None,
        own_column="position",
    )
)
