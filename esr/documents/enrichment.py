"""What `esr enrich` adds to a sentence: features, named entities, a dependency parse and a vector."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from esr.documents.annotation import Entity
from esr.documents.document import ParseWord
from esr.documents.vector import QuantizedVector

PARSE, VECTORS = "parse", "vectors"
DEFAULT_PARTS = ("features", "entities", PARSE)
"""What is computed if nothing is asked for."""
PARTS = (*DEFAULT_PARTS, VECTORS)


class SentenceEnrichment(Struct, frozen=True):
    """What is stored with a sentence. A feature without a value is left out."""

    features: Mapping[str, float]
    entities: tuple[Entity, ...] | None  # None: the sentence was not searched for entities
    parse: tuple[ParseWord, ...] | None  # None: the sentence was not parsed
    vector: QuantizedVector | None = None  # None: the sentence was not encoded

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle flat lists: a quarter of the bytes and of the time on the way from a worker process."""
        entities = None if self.entities is None else [*map(tuple, self.entities)]
        parse = None if self.parse is None else ([w.word for w in self.parse], [w.head for w in self.parse])
        return _unpickle, (dict(self.features), entities, parse, self.vector)


def _unpickle(
    features: dict[str, float],
    entities: Sequence[tuple[str, str]] | None,
    parse: tuple[list[str], list[int]] | None,
    vector: QuantizedVector | None,
) -> SentenceEnrichment:
    return SentenceEnrichment(
        features,
        None if entities is None else tuple(Entity(*entity) for entity in entities),
        None if parse is None else tuple(map(ParseWord, *parse)),
        vector,
    )
