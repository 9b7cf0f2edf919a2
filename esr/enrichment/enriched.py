"""What enrichment makes of a sentence, and what is stored with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from esr.documents import ParseWord
from esr.enrichment.annotation import Entity


@dataclass(frozen=True, slots=True)
class Enriched:
    """A sentence's enrichment. A feature that is not known is left out."""

    features: Mapping[str, float]
    entities: tuple[Entity, ...] | None  # None: not looked for
    parse: tuple[ParseWord, ...] | None  # None: not parsed

    def __reduce__(self) -> tuple[Any, ...]:
        """Flat lists: a quarter of the bytes and of the time on the way from a worker process."""
        entities = None if self.entities is None else [*map(tuple, self.entities)]
        parse = None if self.parse is None else ([w.word for w in self.parse], [w.head for w in self.parse])
        return _unpacked, (dict(self.features), entities, parse)


def _unpacked(
    features: dict[str, float],
    entities: Sequence[tuple[str, str]] | None,
    parse: tuple[list[str], list[int]] | None,
) -> Enriched:
    return Enriched(
        features,
        None if entities is None else tuple(Entity(*entity) for entity in entities),
        None if parse is None else tuple(map(ParseWord, *parse)),
    )
