"""What a part of a score comes from."""

from __future__ import annotations

from typing import Literal, NamedTuple

OriginKind = Literal["term", "field", "collection", "length", "prior", "feature", "boost", "signal", "trees"]


class Origin(NamedTuple):
    """Every part of a score carries its origin, so no part is identified by its position in a list.

    `detail` distinguishes origins of the same name: the term of a field or of the collection, the form of a
    feature, the feature that a boost looks at.
    """

    kind: OriginKind
    name: str
    detail: str = ""


LENGTH = Origin("length", "length")
"""The length term of a smoothed model."""
TREES = Origin("trees", "learned trees")
