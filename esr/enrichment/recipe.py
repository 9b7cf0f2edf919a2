"""What enrichment does and with what. It is recorded in the index: another recipe means, do it again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from esr.errors import UsageError, unknown

PARTS = ("features", "entities", "parse")
FEATURES_ALONE = ("analyzer", "features", "lexicon", "rule")
"""What entities and parses do not depend on."""


@dataclass(frozen=True)
class Recipe:
    """The parts, of PARTS, and what they are made with: by name, its version or digest.

    `made_with` names only what the parts depend on, so that a new lexicon leaves parses as they are.
    """

    parts: tuple[str, ...]
    made_with: Mapping[str, str]

    def of(self, part: str) -> Recipe:
        """The recipe of one part alone."""
        own = {n: v for n, v in self.made_with.items() if part == "features" or n not in FEATURES_ALONE}
        return Recipe((part,), own)

    @property
    def digest(self) -> str:
        """12 hexadecimal digits, the same on every machine."""
        return short_digest(self.as_dict())

    def as_dict(self) -> dict[str, Any]:
        return {"parts": list(self.parts), "made_with": dict(self.made_with)}

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Recipe:
        return cls(tuple(fields["parts"]), dict(fields["made_with"]))


def checked_parts(names: Iterable[str]) -> tuple[str, ...]:
    """These parts, once each, in the order of PARTS. Raises UsageError for another name or none."""
    wanted = set(names)
    for name in sorted(wanted.difference(PARTS)):
        raise unknown("part", name, PARTS)
    if not wanted:
        raise UsageError(f"nothing to do: choose at least one of {', '.join(PARTS)}")
    return tuple(part for part in PARTS if part in wanted)


def short_digest(data: object) -> str:
    """12 hexadecimal digits for what JSON can say."""
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:12]
