"""The stored parses of sentences, with what term dependence computes from them once per query."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from msgspec import Struct, field

from esr.dependency.clique_search import clique_evidence
from esr.dependency.cliques import Array, CliqueEvidence, SetFamily
from esr.dependency.codec import decode
from esr.dependency.forest import Forest


class ParsedSentences(Struct):
    """The parses of n sentences and the query's terms in order.

    `count_terms` gives, for m sentences by their positions, each term's occurrences in the texts, of shape
    (T, m).
    """

    forest: Forest
    terms: Sequence[str]
    count_terms: Callable[[Sequence[int]], Array]
    _cache: dict[Any, Any] = field(default_factory=dict)

    @staticmethod
    def from_blobs(
        blobs: Sequence[bytes | None], terms: Sequence[str], count_terms: Callable[[Sequence[int]], Array]
    ) -> ParsedSentences:
        """From stored parses, None for a sentence without one. Raises IndexUnusable for a damaged one."""
        return ParsedSentences(decode(blobs), tuple(dict.fromkeys(terms)), count_terms)

    @property
    def has_parse(self) -> npt.NDArray[np.bool_]:
        """(n,): whether each sentence has a parse with words."""
        return np.diff(self.forest.starts) > 0

    def evidence(self, family: SetFamily) -> CliqueEvidence:
        evidence = self.cached(("evidence", family), lambda: clique_evidence(self.forest, self.terms, family))
        return cast(CliqueEvidence, evidence)

    def text_counts(self) -> Array:
        """(T, n): occurrences in the texts, of sentences whose parse has no query term; 0 for others."""

        def count() -> Array:
            counts = np.zeros((len(self.terms), len(self.forest)))
            positions = np.flatnonzero(~self.evidence("adjacent").has_query_term).tolist()
            if positions:
                counts[:, positions] = self.count_terms(positions)
            return counts

        return cast(Array, self.cached("text counts", count))

    def cached(self, key: Any, compute: Callable[[], Any]) -> Any:
        """The value of a key, computed at first use: tuning asks again with other weights."""
        if key not in self._cache:
            self._cache[key] = compute()
        return self._cache[key]
