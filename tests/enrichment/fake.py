"""An enricher without language tools: numbers, entities and parses that follow from the text alone."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from zlib import crc32

from esr.documents import Document, ParseWord, Sentence
from esr.enrichment.annotation import LOCATION, ORGANIZATION, PERSON, Entity
from esr.enrichment.enriched import Enriched
from esr.enrichment.recipe import PARTS, Recipe

NAMES = {
    PERSON: ["Ann: Bee", "Barack Obama", "Łukasz"],
    LOCATION: ["Paris", "Ohio", "Barack Obama"],
    ORGANIZATION: ["ACME", "UN"],
}


@dataclass
class FakeEnricher:
    """`version` changes what is found, as another lexicon does. `seconds` is the time for a document."""

    parts: tuple[str, ...] = PARTS
    version: str = "1"
    seconds: float = 0.0
    asked: list[str] = field(default_factory=list)

    @property
    def recipe(self) -> Recipe:
        return Recipe(self.parts, {"fake": self.version})

    def enrich(self, document: Document) -> list[Enriched]:
        time.sleep(self.seconds)
        self.asked.append(document.id)
        return [self._one(sentence) for sentence in document.sentences]

    def enrich_all(self, documents: Sequence[Document]) -> list[list[Enriched]]:
        return [self.enrich(document) for document in documents]

    def load(self) -> None:
        """There is nothing to load."""

    def _one(self, sentence: Sentence) -> Enriched:
        chance = crc32(f"{self.version} {sentence.id} {sentence.text}".encode())
        features = {"count": float(chance % 5), "share": chance % 97 / 96, "big": float(chance)}
        if chance % 3 == 0:
            del features["share"]
        if self.version != "1":
            del features["big"]
        entities = tuple(
            Entity(name, type)
            for type, names in reversed(NAMES.items())
            for n, name in enumerate(names)
            if chance >> n + len(type) & 1
            for _ in range(1 + chance % 2)
        )
        words = sentence.text.split()
        parse = tuple(ParseWord(word, n - 1) for n, word in enumerate(words)) if chance % 4 else None
        return Enriched(
            (features | dict(sentence.features)) if "features" in self.parts else {},
            (entities if chance % 7 else None) if "entities" in self.parts else None,
            (sentence.parse or parse) if "parse" in self.parts else None,
        )
