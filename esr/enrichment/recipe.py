"""What enrichment computes and with which tools. An index stores it: another recipe means, compute again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from esr.documents.enrichment import PARTS
from esr.errors import UsageError, unknown

FEATURES_ONLY = ("analyzer", "features", "lexicon", "rule")
"""Tools that entities and parses do not depend on."""


@dataclass(frozen=True)
class Recipe:
    """The parts, of PARTS, and the version or digest of each tool that they depend on, by name.

    A tool that no part depends on is left out, so a new lexicon leaves parses as they are.
    """

    parts: tuple[str, ...]
    versions: Mapping[str, str]

    def for_part(self, part: str) -> Recipe:
        """The recipe of one part alone."""
        versions = {n: v for n, v in self.versions.items() if part == "features" or n not in FEATURES_ONLY}
        return Recipe((part,), versions)

    @property
    def digest(self) -> str:
        """12 hexadecimal digits, the same on every machine."""
        return short_digest(self.as_dict())

    @property
    def fingerprints(self) -> dict[str, str]:
        """A short name for each part as these tools compute it, such as `features:1f3a…`.

        An index stores the fingerprints of what it has. Each part has its own, so that `--only features`
        today and `--only entities` tomorrow add up.
        """
        return {part: f"{part}:{self.for_part(part).digest}" for part in self.parts}

    def as_dict(self) -> dict[str, Any]:
        return {"parts": list(self.parts), "made_with": dict(self.versions)}

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Recipe:
        return cls(tuple(fields["parts"]), dict(fields["made_with"]))


def check_parts(names: Iterable[str]) -> tuple[str, ...]:
    """These parts, each once, in the order of PARTS. Raises UsageError for an unknown name or for none."""
    requested = set(names)
    for name in sorted(requested.difference(PARTS)):
        raise unknown("part", name, PARTS)
    if not requested:
        raise UsageError(f"no part to compute: choose at least one of {', '.join(PARTS)}")
    return tuple(part for part in PARTS if part in requested)


def short_digest(data: object) -> str:
    """12 hexadecimal digits for data that JSON can hold."""
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:12]
