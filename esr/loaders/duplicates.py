"""Detects documents that repeat an earlier one, exactly or nearly, as agency copy does across newspapers.

Two documents are near duplicates if the Jaccard similarity of their sets of five-word shingles is about 0.8
or more (Broder, On the resemblance and containment of documents, 1997), by MinHash and LSH of datasketch.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from contextlib import closing
from typing import Any, NamedTuple
from zlib import crc32

from msgspec.structs import replace

from esr.extras import require
from esr.loaders.ids import KeyStore
from esr.stdlib import blake2b
from esr.text.document import Document, Located
from esr.wording import count

POLICIES: dict[str, str] = {
    "keep": "load all documents and do not look for duplicates",
    "count": "load all, and report how many repeat an earlier one",
    "mark": "like count, and give their sentences the feature duplicate: 1, or the similarity",
    "drop": "leave out documents that repeat an earlier one",
}
# The feature of the sentences of a marked document.
FEATURE = "duplicate"

SIMILARITY = 0.8
# The number of earlier documents that each is compared with, which bounds memory. Copies appear within days.
NEAR_WINDOW = 50_000
_PERMUTATIONS = 64
_SHINGLE_WORDS = 5
# Shorter texts may be similar by chance (weather, results, "no text"), so their titles must match too.
_MIN_WORDS = 30
_MAX_EXAMPLES = 5
_WORD = re.compile(r"\w+")


class _Match(NamedTuple):
    id: str
    similarity: float


class DuplicateFilter:
    """Counts documents that repeat an earlier one, and marks or drops them by policy. Use one per load."""

    def __init__(self, policy: str) -> None:
        require("--duplicates", "datasketch")
        from datasketch import MinHash, MinHashLSH

        self._policy = policy
        self.exact = self.near = 0
        self.examples: list[str] = []
        self._sketches: OrderedDict[str, Any] = OrderedDict()
        self._index = MinHashLSH(threshold=SIMILARITY, num_perm=_PERMUTATIONS)
        self._empty_sketch = MinHash(num_perm=_PERMUTATIONS, hashfunc=crc32)

    def filter(self, documents: Iterable[Located]) -> Iterator[Located]:
        """The documents, with duplicates unchanged, marked or left out by policy."""
        with closing(KeyStore()) as digests:
            for located in documents:
                match = self._find_match(located.document, digests)
                if match is None:
                    yield located
                    continue
                if len(self.examples) < _MAX_EXAMPLES:
                    self.examples.append(f"{located.document.id} at {located.where} repeats {match.id}")
                if self._policy == "mark":
                    located = located._replace(document=_mark(located.document, match.similarity))
                if self._policy != "drop":
                    yield located

    def notes(self) -> list[str]:
        """The lines about duplicates for the report of a load."""
        if not self.exact + self.near:
            return ["no document repeats an earlier one"]
        outcome = {"drop": "were left out", "mark": f"have the feature {FEATURE}"}.get(
            self._policy, "were loaded"
        )
        return [
            f"{count(self.exact, 'document', 'repeat')} an earlier one word for word, and {self.near:,} "
            f"nearly repeat one of the {NEAR_WINDOW:,} before them; they {outcome}",
            *self.examples,
        ]

    def _find_match(self, document: Document, digests: KeyStore) -> _Match | None:
        """The earlier document that this one repeats, or None. Counts the duplicates."""
        words = _WORD.findall(" ".join(sentence.text for sentence in document.sentences).casefold())
        if not words:
            return None
        is_short = len(words) < _MIN_WORDS
        text = " ".join([(document.title or "").casefold(), "", *words] if is_short else words)
        digest = blake2b(text.encode(), digest_size=16).digest()
        if original := digests.insert(digest, document.id):
            self.exact += 1
            return _Match(original, 1.0)
        return None if is_short else self._find_near_match(document.id, words)

    def _find_near_match(self, id: str, words: list[str]) -> _Match | None:
        sketch = self._empty_sketch.copy()
        starts = range(len(words) - _SHINGLE_WORDS + 1)
        sketch.update_batch([" ".join(words[n : n + _SHINGLE_WORDS]).encode() for n in starts])
        for candidate in sorted(self._index.query(sketch)):
            similarity = float(self._sketches[candidate].jaccard(sketch))
            if similarity >= SIMILARITY:
                self.near += 1
                return _Match(str(candidate), similarity)
        if id not in self._sketches:
            self._index.insert(id, sketch)
            self._sketches[id] = sketch
        if len(self._sketches) > NEAR_WINDOW:
            oldest, _ = self._sketches.popitem(last=False)
            self._index.remove(oldest)
        return None


def _mark(document: Document, similarity: float) -> Document:
    sentences = (replace(s, features={**s.features, FEATURE: similarity}) for s in document.sentences)
    return replace(document, sentences=tuple(sentences))
