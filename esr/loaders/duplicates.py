"""Documents that say the same as one before, to the word or nearly, as agencies' copy does in many papers.

Nearly the same are documents whose sets of five words in a row have a Jaccard similarity of some 0.8 or
more: Broder, On the resemblance and containment of documents, 1997. MinHash and its index are datasketch's.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from hashlib import blake2b
from typing import Any, NamedTuple
from zlib import crc32

from esr.documents import Document, Located
from esr.extras import require
from esr.loaders.seen import Seen

HANDLING: dict[str, str] = {
    "keep": "load all, look at none",
    "count": "load all, and say how many repeat an earlier one",
    "mark": "as count, and give their sentences the feature duplicate: 1, or how alike they are",
    "drop": "leave those out that repeat an earlier one",
}
# What a marked sentence has.
FEATURE = "duplicate"

SIMILARITY = 0.8
# Memory is bounded: a document is compared with this many before it. Copies come within days.
NEAR_WINDOW = 50_000
_PERMUTATIONS = 64
_WORDS_IN_A_ROW = 5
# Short ones are alike by chance: weather, results, "no text". They must have the same title too.
_LEAST_WORDS = 30
_EXAMPLES = 5
_WORD = re.compile(r"\w+")


class _Earlier(NamedTuple):
    id: str
    similarity: float


class Duplicates:
    """Counts what repeats an earlier document; marks or drops it if wanted. One is for one load."""

    def __init__(self, handling: str) -> None:
        require("--duplicates", "datasketch")
        from datasketch import MinHash, MinHashLSH

        self._handling = handling
        self.exact = self.near = 0
        self.examples: list[str] = []
        self._seen = Seen()
        self._sketches: OrderedDict[str, Any] = OrderedDict()
        self._index = MinHashLSH(threshold=SIMILARITY, num_perm=_PERMUTATIONS)
        self._blank = MinHash(num_perm=_PERMUTATIONS, hashfunc=crc32)

    def filtered(self, documents: Iterable[Located]) -> Iterator[Located]:
        """The documents; those that repeat one are marked or left out if they are to be."""
        for located in documents:
            earlier = self._earlier(located.document)
            if earlier is None:
                yield located
                continue
            if len(self.examples) < _EXAMPLES:
                self.examples.append(f"{located.document.id} at {located.where} repeats {earlier.id}")
            if self._handling == "mark":
                located = located._replace(document=_marked(located.document, earlier.similarity))
            if self._handling != "drop":
                yield located

    def notes(self) -> list[str]:
        """What a report says of them."""
        if not self.exact + self.near:
            return ["no document repeats an earlier one"]
        done = {"drop": "left out", "mark": f"marked by the feature {FEATURE}"}.get(self._handling, "loaded")
        return [
            f"{self.exact:,} documents repeat an earlier one to the word and {self.near:,} nearly one of the "
            f"{NEAR_WINDOW:,} before; they are {done}",
            *self.examples,
        ]

    def _earlier(self, document: Document) -> _Earlier | None:
        """An earlier document that says the same; counts it."""
        words = _WORD.findall(" ".join(sentence.text for sentence in document.sentences).casefold())
        if not words:
            return None
        short = len(words) < _LEAST_WORDS
        text = " ".join([(document.title or "").casefold(), "", *words] if short else words)
        digest = blake2b(text.encode(), digest_size=16).digest()
        if first := self._seen.first(digest, document.id):
            self.exact += 1
            return _Earlier(first, 1.0)
        return None if short else self._nearly(document.id, words)

    def _nearly(self, id: str, words: list[str]) -> _Earlier | None:
        sketch = self._blank.copy()
        rows = range(len(words) - _WORDS_IN_A_ROW + 1)
        sketch.update_batch([" ".join(words[n : n + _WORDS_IN_A_ROW]).encode() for n in rows])
        for candidate in sorted(self._index.query(sketch)):
            similarity = float(self._sketches[candidate].jaccard(sketch))
            if similarity >= SIMILARITY:
                self.near += 1
                return _Earlier(str(candidate), similarity)
        if id not in self._sketches:
            self._index.insert(id, sketch)
            self._sketches[id] = sketch
        if len(self._sketches) > NEAR_WINDOW:
            oldest, _ = self._sketches.popitem(last=False)
            self._index.remove(oldest)
        return None


def _marked(document: Document, similarity: float) -> Document:
    sentences = (replace(s, features={**s.features, FEATURE: similarity}) for s in document.sentences)
    return replace(document, sentences=tuple(sentences))
