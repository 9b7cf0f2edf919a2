"""A sentence's length (Fernández & Losada 2012, F_len; docs/formulas.md, B.8)."""

from esr.features.feature import Feature, register

register(
    Feature(
        "len",
        "number of terms, stop words left out",
        "Fernández & Losada 2012, F_len",
        None,
        own_column="length",
    )
)
