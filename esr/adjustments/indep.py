"""indep: the weight of a feature as if it were independent of the query."""

from esr.adjustments.form import Form, register

INDEP = register(
    Form(
        "indep",
        "log P(I|R) / P(I), a curve trained from judgements: R are the relevant sentences",
        "Fernández & Losada 2012, eqs. 6-7; docs/formulas.md, B.4-B.5",
        "curve",
    )
)
