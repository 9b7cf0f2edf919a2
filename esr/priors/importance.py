"""The sentence-importance prior p(d|s): how specific a sentence's terms are to its document."""

from esr.priors.prior import Prior, register

HARM = "made for ranking within few documents; over a whole collection it hurts badly"

IMPORTANCE = register(
    Prior(
        "importance",
        f"log p(d|s), terms of the sentence in its document against the collection ({HARM})",
        "Fernández, Losada & Azzopardi 2011, eqs. 4-7; docs/formulas.md, A.4",
        "importance",
    )
)
IMPORTANCE_SURROUNDING = register(
    Prior(
        "importance-surrounding",
        f"log p(d|s) with the surrounding sentences in the document's place ({HARM})",
        "docs/formulas.md, A.4, second reading",
        "importance_surrounding",
    )
)
