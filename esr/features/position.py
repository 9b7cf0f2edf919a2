"""A sentence's position in its document."""

from esr.features.feature import Feature, register

register(
    Feature(
        "position",
        "position of the sentence in its document, from 0",
        "esr; the location method, Edmundson 1969",
        None,
        own_column="position",
    )
)
