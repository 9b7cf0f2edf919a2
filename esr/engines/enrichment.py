"""The stored enrichment of an index."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

from esr.documents import Document
from esr.documents.enrichment import SentenceEnrichment
from esr.engines.aliases import Aliases

if TYPE_CHECKING:
    from esr.enrichment.recipe import Recipe


class Enrichment(Protocol):
    """Reads and writes an index's enrichment. Searches continue and see each stored batch.

    `slice` (i, n) is the i-th of n slices of the documents, i from 1. Slices are disjoint, and together
    they hold all documents.
    """

    def progress(self, recipe: Recipe, slice: tuple[int, int] = (1, 1)) -> tuple[int, int]:
        """How many documents of the slice this recipe has enriched, and how many there are."""

    def pending(self, recipe: Recipe, slice: tuple[int, int] = (1, 1)) -> Iterator[Document]:
        """The documents that this recipe has not enriched, in collection order."""

    def store(self, recipe: Recipe, batch: Iterable[tuple[str, Sequence[SentenceEnrichment]]]) -> None:
        """Store the enrichment of documents: their ids, and their sentences in order.

        It is durable when this returns, and replaces what was stored of the recipe's parts.
        """

    def update_names(self, aliases: Aliases | None) -> int:
        """Store what groups the names that are stored, where an older version of esr did not.

        `aliases` replace those that the index has; None leaves them. Returns how many sentences were updated.
        """

    def finish(self, recipe: Recipe) -> list[str]:
        """Clean up after the last `store`. Returns notes for the user."""
