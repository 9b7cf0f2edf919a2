"""Features: their definition, their input, and their registry."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from msgspec import Struct

from esr.errors import unknown
from esr.features.lexicon import Lexicon
from esr.features.tone import Tone
from esr.registry import Registry
from esr.stdlib import cached_property
from esr.text.document import Document
from esr.text.sentence_enrichment import Annotation

Need = Literal["tags", "entities", "lexicon", "title"]
NEEDS: dict[Need, str] = {
    "tags": "part-of-speech tags",
    "entities": "named entities",
    "lexicon": "a lexicon",
    "title": "the document's title",
}
Values = Sequence[float | None]
"""One number for each sentence of a document, None where it is unknown."""

RULES = {
    "score": "the lexicon and style score reaches 1.37 (the default)",
    "clues": "at least two strong clues of the lexicon; an undecided sentence counts as not subjective",
}
DEFAULT_RULE = "score"


@dataclass(frozen=True, eq=False)
class FeatureInput:
    """The input of features: a document with one annotation per sentence, None if no model could read it.

    Only sentences in English are tagged. `tones` has what a classifier says of each sentence, in the
    languages that have one; it is empty without a classifier. `rule`, one of RULES, decides which sentence
    is subjective. `terms` analyzes a text to terms.
    """

    document: Document
    annotations: Sequence[Annotation | None]
    lexicon: Lexicon
    rule: str
    terms: Callable[[str], list[str]]
    tones: Sequence[Tone] = ()

    @cached_property
    def sentence_terms(self) -> list[set[str]]:
        """The distinct terms of each sentence."""
        return [set(self.terms(sentence.text)) for sentence in self.document.sentences]

    @cached_property
    def tagged(self) -> list[Annotation | None]:
        """The annotations of English sentences, None for others, for features that support English only."""
        return [sentence if sentence and sentence.is_tagged else None for sentence in self.annotations]


class Feature(Struct, frozen=True):
    """A number of a sentence that depends on no query.

    `compute` returns it for each sentence of a document, None where it is unknown. `compute` is None for
    numbers that engines store in every index, in `own_column`. After an increment of `version`, stored values
    are computed again.
    """

    name: str
    description: str
    source: str
    compute: Callable[[FeatureInput], Values] | None
    needs: tuple[Need, ...] = ()
    version: int = 1
    own_column: str | None = None

    @property
    def column(self) -> str:
        """The name of its column in plans and evidence."""
        return self.own_column or f"features.{self.name}"

    def as_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "description": self.description,
            "source": self.source,
            "needs": list(self.needs) if self.compute else None,
            "column": self.column,
            "version": self.version,
        }


FEATURES: Registry[Feature] = Registry("feature", "features", Feature)
register: Callable[[Feature], Feature] = FEATURES.register
get: Callable[[str], Feature] = FEATURES.find


def check_rule(name: str) -> str:
    """The name, if it is a rule. Raises UsageError with the nearest one."""
    if name not in RULES:
        raise unknown("rule for subjective sentences", name, RULES)
    return name
