"""Short texts for labels and fields."""

from __future__ import annotations

import re

from esr.features import FEATURES


def plain_number(value: object) -> str:
    """A number without needless digits; other values as text."""
    return f"{value:g}" if isinstance(value, int | float) else str(value)


def first_phrase(description: str) -> str:
    """The first phrase of a description: an option has little room."""
    return re.split(r"[:;,(]", description, maxsplit=1)[0].strip()


def feature_label(name: str) -> str:
    """What a feature is, in a few words; its name, if it is none of ours."""
    return first_phrase(FEATURES[name].description) if name in FEATURES else name
