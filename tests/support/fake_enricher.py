"""An enricher without language tools: numbers, entities and parses that follow from the text alone."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from zlib import crc32

from esr.enrichment.recipe import Recipe
from esr.text.document import (
    LOCATION,
    ORGANIZATION,
    PARTS,
    PERSON,
    VECTORS,
    Document,
    Entity,
    ParseWord,
    QuantizedVector,
    Sentence,
    SentenceEnrichment,
)

NAMES = {
    PERSON: ["Ann: Bee", "Barack Obama", "Łukasz"],
    LOCATION: ["Paris", "Ohio", "Barack Obama"],
    ORGANIZATION: ["ACME", "UN"],
}
ENCODER, DIMENSIONS = "fake 0123456789ab", 4


def vector_of(digest: int) -> QuantizedVector | None:
    """A vector that follows from a number."""
    if digest % 6 == 0:
        return None
    return QuantizedVector((digest % 2**32).to_bytes(DIMENSIONS, "little"), 2.0 ** -(digest % 9))


@dataclass
class FakeEnricher:
    """`version` changes the results, as another lexicon does. `seconds` is the time for a document.

    The recipe names `tools` too, which change nothing. It does not name `variant`, which changes the results,
    so that tests see which documents were computed again.
    """

    parts: tuple[str, ...] = PARTS
    version: str = "1"
    seconds: float = 0.0
    enriched_ids: list[str] = field(default_factory=list)
    tools: Mapping[str, str] = field(default_factory=dict)
    variant: str = ""

    @property
    def recipe(self) -> Recipe:
        encoder = {"encoder": ENCODER} if VECTORS in self.parts else {}
        return Recipe(self.parts, {"fake": self.version, **encoder, **self.tools})

    def enrich(self, document: Document) -> list[SentenceEnrichment]:
        time.sleep(self.seconds)
        self.enriched_ids.append(document.id)
        return [self._enrich_sentence(sentence) for sentence in document.sentences]

    def enrich_batch(self, documents: Sequence[Document]) -> list[list[SentenceEnrichment]]:
        return [self.enrich(document) for document in documents]

    def load(self) -> None:
        """There is nothing to load."""

    def describe_missing_models(self, languages: object) -> list[str]:
        """No model is needed."""
        return []

    def _enrich_sentence(self, sentence: Sentence) -> SentenceEnrichment:
        digest = crc32(f"{self.version}{self.variant} {sentence.id} {sentence.text}".encode())
        features = {"count": float(digest % 5), "share": digest % 97 / 96, "big": float(digest)}
        if digest % 3 == 0:
            del features["share"]
        if self.version != "1":
            del features["big"]
        entities = tuple(
            Entity(name, type)
            for type, names in reversed(NAMES.items())
            for n, name in enumerate(names)
            if digest >> n + len(type) & 1
            for _ in range(1 + digest % 2)
        )
        words = sentence.text.split()
        parse = tuple(ParseWord(word, n - 1) for n, word in enumerate(words)) if digest % 4 else None
        return SentenceEnrichment(
            (features | dict(sentence.features)) if "features" in self.parts else {},
            (entities if digest % 7 else None) if "entities" in self.parts else None,
            (sentence.parse or parse) if "parse" in self.parts else None,
            vector_of(digest) if VECTORS in self.parts else None,
        )


def build_slow_enricher(*_: object, **__: object) -> FakeEnricher:
    """Instead of the enricher of the command line: slow enough to be killed at any moment."""
    return FakeEnricher(seconds=0.004)
