"""Texts that nobody wrote: words put together from those of a language, and characters of all classes."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from functools import cache

from esr.batches import batched
from esr.text.analyzer import get_definition
from esr.text.tokenizer import classes


def made_up_words(analyzer: str, count: int) -> Iterator[str]:
    """The example of an analyzer, then `count` words from pieces of its stop words and of the example."""
    definition = get_definition(analyzer)
    stop = (f["stopwords"] for f in definition.chain("filter") if f["type"] == "stop")
    words = [*definition.example.split(), *(word for words in stop for word in words)]
    yield definition.example
    rng = random.Random(analyzer)
    made_up = ("".join(_piece(rng, words) for _ in range(rng.randint(1, 4))) for _ in range(count))
    yield from (" ".join(batch) for batch in batched(made_up, 50))


def _piece(rng: random.Random, words: Sequence[str]) -> str:
    word = rng.choice(words)
    return rng.choice([word, word[: rng.randint(1, 5)], word[-rng.randint(1, 5) :], word.upper(), word + "s"])


def spoilt_texts(count: int) -> Iterator[str]:
    """Texts of characters of all classes, each class as often as the others; the first is a word of a
    megabyte."""
    rng = random.Random(7)
    characters = [*_by_class(), list(" .,'’:\u202f\u00a0\u00ad\u200b\u202e")]
    for n in range(count):
        if n == 0:
            yield "x" * 1_000_000
        else:
            yield "".join(rng.choice(rng.choice(characters)) for _ in range(rng.randint(1, 30)))


@cache
def _by_class() -> list[list[str]]:
    """The characters of the first planes by their class of word boundaries."""
    by_class: dict[str, list[str]] = {}
    for code in range(0x20, 0x30000):
        if not 0xD800 <= code < 0xE000:
            by_class.setdefault(classes()[code], []).append(chr(code))
    return list(by_class.values())
