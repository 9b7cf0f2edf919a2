"""What language tools find in a sentence."""

from __future__ import annotations

from typing import NamedTuple

PERSON, LOCATION, ORGANIZATION = "person", "location", "organization"


class Entity(NamedTuple):
    """A named entity as it stands in the sentence, and one of the three types above."""

    text: str
    type: str
