"""The recipe of an enrichment: its parts, and the versions of the tools that computed it.

An index stores the recipe. A part whose recipe has changed is computed again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from esr.enrichment.spacy_models import ENGLISH, language_code
from esr.errors import UsageError, unknown
from esr.text.document import PARTS, QUOTES, VECTORS

FEATURES_ONLY = ("analyzer", "features", "lexicon", "rule")
"""Tools on which only features depend: neither entities nor parses do."""
ENGLISH_ONLY = ("lexicon", "rule")
"""Tools that are used only for documents in English."""
MODEL = "model "
"""Prefix of the key of a language's model: "model fr"."""
DEFAULT_LANGUAGE = "language"
"""Key of the language assumed for documents that name none. Left out if it is unknown."""
VECTORS_ONLY = ("encoder", "title weight", VECTORS)
"""Tools that only vectors depend on."""
QUOTES_ONLY = (QUOTES,)
"""Tools on which only quotations depend: their rules."""
SPACY_ONLY = ("enrichment", "spacy", DEFAULT_LANGUAGE, *FEATURES_ONLY)
"""Tools on which vectors do not depend, nor quotations, except on the default language. Neither depends on
the models of languages."""
_WITHOUT_MODEL = "und"


@dataclass(frozen=True)
class Recipe:
    """The parts, of PARTS, and by name the version or digest of each tool that they depend on.

    A tool that no part depends on is left out: a new lexicon does not invalidate parses.
    """

    parts: tuple[str, ...]
    versions: Mapping[str, str]

    def for_part(self, part: str) -> Recipe:
        """The recipe of one part alone."""
        models = (name for name in self.versions if name.startswith(MODEL))
        if part == VECTORS:
            unneeded = {*SPACY_ONLY, *QUOTES_ONLY, *models}
        elif part == QUOTES:
            unneeded = {*SPACY_ONLY, *VECTORS_ONLY, *models} - {DEFAULT_LANGUAGE}
        else:
            unneeded = {*VECTORS_ONLY, *QUOTES_ONLY, *(() if part == "features" else FEATURES_ONLY)}
        return Recipe((part,), {n: v for n, v in self.versions.items() if n not in unneeded})

    def for_language(self, language: str | None) -> Recipe:
        """The recipe without the tools on which documents that name this language do not depend."""
        code = language_code(language) or self.versions.get(DEFAULT_LANGUAGE, "")
        unneeded = {DEFAULT_LANGUAGE, *(name for name in self.versions if name.startswith(MODEL))}
        unneeded.discard(MODEL + code)
        if self.parts == (QUOTES,):
            return Recipe(self.parts, {**self.versions, DEFAULT_LANGUAGE: code})
        if MODEL + code not in self.versions:
            unneeded.add("spacy")
        if code != ENGLISH:
            unneeded.update(ENGLISH_ONLY)
        return Recipe(self.parts, {n: v for n, v in self.versions.items() if n not in unneeded})

    def agrees(self, other: Recipe, part: str, language: str | None) -> bool:
        """Whether both recipes give the same result for a part of a document in this language."""
        of_both = [recipe.for_part(part).for_language(language) for recipe in (self, other)]
        return part in other.parts and of_both[0] == of_both[1]

    def may_agree(self, other: Recipe, part: str) -> bool:
        """Whether both recipes give the same result for a part of documents in some language."""
        languages = {
            name.removeprefix(MODEL) for r in (self, other) for name in r.versions if name.startswith(MODEL)
        }
        return any(self.agrees(other, part, language) for language in (*languages, _WITHOUT_MODEL, None))

    @property
    def digest(self) -> str:
        """12 hexadecimal digits, the same on every machine."""
        return short_digest(self.as_dict())

    @property
    def fingerprints(self) -> dict[str, str]:
        """By part, its name and the digest of its recipe, such as `features:1f3a…`.

        An index stores the fingerprints of its enrichment. Each part has a fingerprint, so that parts can be
        computed in separate runs.
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
