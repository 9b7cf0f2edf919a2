"""FLOE: the weight of a feature, less what the ranking takes into account already."""

from esr.adjustments.form import Form, register

FLOE = register(
    Form(
        "floe",
        "log P(I|R) / P(I|T), a curve trained from judgements: T are what the ranking puts first",
        "Craswell et al. 2005; Fernández & Losada 2012, eqs. 8-9; docs/formulas.md, B.6",
        "curve",
    )
)
