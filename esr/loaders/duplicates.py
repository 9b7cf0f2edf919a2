"""Documents that say the same as one before, to the word or nearly, as agencies' copy does in many papers.

Nearly the same are documents whose sets of five words in a row have a Jaccard similarity of some 0.8 or
more: Broder, On the resemblance and containment of documents, 1997. MinHash and its index are datasketch's.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import Any, Literal
from zlib import crc32

from esr.documents import Document, Located
from esr.loaders.extras import require

Handling = Literal["keep", "count", "drop"]
HANDLING: dict[str, str] = {
    "keep": "load all, look at none",
    "count": "load all, and say how many repeat an earlier one",
    "drop": "leave those out that repeat an earlier one",
}

SIMILARITY = 0.8
# Memory is bounded: a document is compared with this many before it.
EXACT_WINDOW = 1_000_000
NEAR_WINDOW = 50_000
_PERMUTATIONS = 64
_WORDS_IN_A_ROW = 5
# Short ones are alike by chance: weather, results, "no text".
_LEAST_WORDS = 30
_EXAMPLES = 5
_WORD = re.compile(r"\w+")


class Duplicates:
    """Counts, and drops if wanted, what repeats an earlier document. One of them is for one load."""

    def __init__(self, drop: bool) -> None:
        require("--duplicates", ["datasketch"])
        from datasketch import MinHash, MinHashLSH

        self.drop = drop
        self.exact = self.near = 0
        self.examples: list[str] = []
        self._seen: OrderedDict[bytes, str] = OrderedDict()
        self._sketches: OrderedDict[str, Any] = OrderedDict()
        self._index = MinHashLSH(threshold=SIMILARITY, num_perm=_PERMUTATIONS)
        self._blank = MinHash(num_perm=_PERMUTATIONS, hashfunc=crc32)

    def filtered(self, documents: Iterable[Located]) -> Iterator[Located]:
        """The documents, without those that repeat one if they are to be dropped."""
        for located in documents:
            first = self._earlier(located.document)
            if first is not None and len(self.examples) < _EXAMPLES:
                self.examples.append(f"{located.document.id} at {located.where} repeats {first}")
            if first is None or not self.drop:
                yield located

    def notes(self) -> list[str]:
        """What a report says of them."""
        if not self.exact + self.near:
            return ["no document repeats an earlier one"]
        what = "left out" if self.drop else "loaded all the same"
        return [
            f"{self.exact:,} documents repeat an earlier one to the word and {self.near:,} nearly ({what}; "
            f"each compared with {EXACT_WINDOW:,} and {NEAR_WINDOW:,} before it)",
            *self.examples,
        ]

    def _earlier(self, document: Document) -> str | None:
        """The id of an earlier document that says the same; counts it."""
        text = " ".join(sentence.text for sentence in document.sentences).casefold()
        words = _WORD.findall(text)
        if not words:
            return None
        digest = blake2b(" ".join(words).encode("utf-8", "surrogatepass"), digest_size=16).digest()
        if first := self._seen.get(digest):
            self.exact += 1
            return first
        self._seen[digest] = document.id
        if len(self._seen) > EXACT_WINDOW:
            self._seen.popitem(last=False)
        return self._nearly(document.id, words) if len(words) >= _LEAST_WORDS else None

    def _nearly(self, id: str, words: list[str]) -> str | None:
        sketch = self._blank.copy()
        rows = range(len(words) - _WORDS_IN_A_ROW + 1)
        sketch.update_batch([" ".join(words[n : n + _WORDS_IN_A_ROW]).encode() for n in rows])
        for candidate in sorted(self._index.query(sketch)):
            if self._sketches[candidate].jaccard(sketch) >= SIMILARITY:
                self.near += 1
                return str(candidate)
        if id not in self._sketches:
            self._index.insert(id, sketch)
            self._sketches[id] = sketch
        if len(self._sketches) > NEAR_WINDOW:
            oldest, _ = self._sketches.popitem(last=False)
            self._index.remove(oldest)
        return None
