"""What `esr enrich` adds to sentences: features, entities, parses, vectors and quotations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from esr.text.document import ParseWord, Quote

PERSON, LOCATION, ORGANIZATION = "person", "location", "organization"


class Entity(NamedTuple):
    """A named entity. `type` is PERSON, LOCATION or ORGANIZATION; entities of other types are dropped."""

    text: str
    type: str


class Token(NamedTuple):
    """A word or punctuation mark.

    `tag` is its Penn Treebank tag, "" if the sentence was not tagged. `head` is the position of its head in
    the sentence, -1 for a root and in a sentence that was not parsed. `space_after`: a space follows it.
    """

    text: str
    tag: str
    head: int
    space_after: bool


class Annotation(Struct, frozen=True):
    """A sentence's tokens in order, and its entities, None if the model was not run for entities."""

    tokens: tuple[Token, ...]
    entities: tuple[Entity, ...] | None
    is_tagged: bool
    is_parsed: bool


class QuantizedVector(NamedTuple):
    """A vector as `scale` times integers from -127 to 127, one byte each.

    That is a quarter of the bytes of floats, and products are exact in any order.
    """

    values: bytes
    scale: float
    """A 32-bit float."""

    @property
    def array(self) -> npt.NDArray[np.int8]:
        return np.frombuffer(self.values, np.int8)


PARSE, VECTORS, QUOTES = "parse", "vectors", "quotes"
DEFAULT_PARTS = ("features", "entities", PARSE)
"""The parts computed by default."""
PARTS = (*DEFAULT_PARTS, VECTORS, QUOTES)
REUSE = "reuse"
"""The part that only a run over the whole index computes: which sentences are copies of each other."""
STORED_PARTS = (*PARTS, REUSE)
TABLE = "table"
"""Key of the digest, in a recipe, of the table that made vectors in place of the encoder that it imitates."""
ENCODER_VARIABLE = "ESR_ENCODER"
"""The environment variable that names the encoder of queries and of loads."""


class SentenceEnrichment(Struct, frozen=True):
    """What enrichment stores with a sentence. A feature without a value is left out."""

    features: Mapping[str, float]
    entities: tuple[Entity, ...] | None  # None: not searched for entities
    parse: tuple[ParseWord, ...] | None  # None: not parsed
    vector: QuantizedVector | None = None  # None: not encoded
    quotes: tuple[Quote, ...] = ()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle flat lists: a quarter of the bytes, and of the time to send from a worker process."""
        entities = None if self.entities is None else [*map(tuple, self.entities)]
        parse = None if self.parse is None else ([w.word for w in self.parse], [w.head for w in self.parse])
        return _unpickle, (dict(self.features), entities, parse, self.vector, [*map(tuple, self.quotes)])


def _unpickle(
    features: dict[str, float],
    entities: Sequence[tuple[str, str]] | None,
    parse: tuple[list[str], list[int]] | None,
    vector: QuantizedVector | None,
    quotes: Sequence[tuple[Any, ...]],
) -> SentenceEnrichment:
    return SentenceEnrichment(
        features,
        None if entities is None else tuple(Entity(*entity) for entity in entities),
        None if parse is None else tuple(map(ParseWord, *parse)),
        vector,
        tuple(Quote(*quote) for quote in quotes),
    )
