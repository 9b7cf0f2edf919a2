"""Documents of words that begin alike, with features."""

from __future__ import annotations

import random
from collections.abc import Iterator

from esr.documents import Document, Sentence

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
        sentences = [
            Sentence(
                f"d{n}.{i}",
                " ".join(chance.choices(WORDS, k=chance.randint(1, 9)) + chance.choices(ODD, k=i % 2)),
                {"pers": i % 3, "numbers": (n + i) % 2} if i else {},
            )
            for i in range(chance.randint(1, 6))
        ]
        yield Document(f"d{n}", tuple(sentences), title="Migrational headlines" if n % 5 == 0 else None)
