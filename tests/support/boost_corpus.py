"""Documents of words that begin alike, with features and some parses."""

from __future__ import annotations

import random
from collections.abc import Iterator

from esr.text.document import Document, ParseWord, Sentence

WORDS = [
    "migration",
    "migrants",
    "migrate",
    "migrated",
    "migratory",
    "bank",
    "banks",
    "banking",
    "banker",
    "court",
    "courts",
    "vote",
    "1990s",
]
ODD = ["İstanbul", "İstanbullu", "𐐷𐐷𐐷𐐷", "𐐷𐐷𐐷𐐷𐐷", "ﬀﬀﬀﬀ", "ﬀﬀﬀﬀﬀ", "ÿÿÿÿ", "ÿÿÿÿÿ"]


def corpus(first: int, count: int) -> Iterator[Document]:
    chance = random.Random(first)
    for n in range(first, first + count):
        sentences = []
        for i in range(chance.randint(1, 6)):
            words = chance.choices(WORDS, k=chance.randint(1, 9)) + chance.choices(ODD, k=i % 2)
            features = {"pers": i % 3, "numbers": (n + i) % 2} if i else {}
            parse = tuple(ParseWord(word, at - 1) for at, word in enumerate(words)) if i % 3 == 0 else None
            sentences.append(Sentence(f"d{n}.{i}", " ".join(words), features, parse))
        yield Document(f"d{n}", tuple(sentences), title="Migrational headlines" if n % 5 == 0 else None)
