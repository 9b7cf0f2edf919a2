"""What a feature is, what it is computed from, and the registry of features."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from esr.documents import Document
from esr.enrichment.annotation import Annotation
from esr.errors import unknown
from esr.features.lexicon import Lexicon
from esr.registry import Registry

Need = Literal["tags", "entities", "lexicon", "title"]
NEEDS: dict[Need, str] = {
    "tags": "part-of-speech tags",
    "entities": "named entities",
    "lexicon": "a lexicon",
    "title": "the document's title",
}
Values = Sequence[float | None]  # one a sentence, None where it is not known

RULES = {
    "score": "the lexicon and style score reaches 1.37 (the default)",
    "clues": "two strong clues of the lexicon or more; a sentence of neither kind counts as not subjective",
}
DEFAULT_RULE = "score"


@dataclass(frozen=True, eq=False)
class Reading:
    """A document as features see it: one annotation a sentence, None where its language is not English.

    `rule` says which sentence is subjective, one of RULES; `terms` analyses a text to terms.
    """

    document: Document
    annotations: Sequence[Annotation | None]
    lexicon: Lexicon
    rule: str
    terms: Callable[[str], list[str]]

    @cached_property
    def sentence_terms(self) -> list[set[str]]:
        """The distinct terms of every sentence."""
        return [set(self.terms(sentence.text)) for sentence in self.document.sentences]

    def each(self, value: Callable[[Annotation], float]) -> Values:
        """A value for every annotated sentence that needs nothing but itself."""
        return [None if sentence is None else value(sentence) for sentence in self.annotations]


@dataclass(frozen=True)
class Feature:
    """A number known of a sentence before any query.

    `values` computes it for a document's sentences; None: the engines store it with every index, in
    `own_column`. A new version says that stored values are to be computed again.
    """

    name: str
    description: str
    source: str
    values: Callable[[Reading], Values] | None
    needs: tuple[Need, ...] = ()
    version: int = 1
    own_column: str | None = None

    @property
    def column(self) -> str:
        """Where plans and evidence have it."""
        return self.own_column or f"features.{self.name}"

    def as_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "description": self.description,
            "source": self.source,
            "needs": list(self.needs) if self.values else None,
            "column": self.column,
            "version": self.version,
        }


FEATURES: Registry[Feature] = Registry("feature")
register = FEATURES.register
get = FEATURES.find


def checked_rule(name: str) -> str:
    """The name of a rule. Raises UsageError with the nearest one."""
    if name not in RULES:
        raise unknown("rule for subjective sentences", name, RULES)
    return name
