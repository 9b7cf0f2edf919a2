"""What enrichment does and with what. Recorded in the index; another recipe means: do it again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

PARTS = ("features", "entities", "parse")


@dataclass(frozen=True)
class Recipe:
    """The parts that are made, and names and versions of what they are made with."""

    parts: tuple[str, ...]
    made_with: Mapping[str, str]

    def as_dict(self) -> dict[str, Any]:
        return {"parts": list(self.parts), "made_with": dict(self.made_with)}

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Recipe:
        return Recipe(tuple(data["parts"]), dict(data["made_with"]))

    @cached_property
    def digest(self) -> str:
        """Short, and the same on every machine."""
        text = json.dumps(self.as_dict(), sort_keys=True)
        return hashlib.blake2b(text.encode(), digest_size=6).hexdigest()
