"""Random parses, and parses as plain lists."""

from __future__ import annotations

from hypothesis import strategies as st

from esr.dependency.parses import Forest, decode, encode
from esr.text.analyzer import get_analyzer
from esr.text.document import ParseWord
from tests.support.dependency_definition import Node, Parse

PLAIN = get_analyzer("plain")
WORDS = ["a", "b", "c", "d", "A", "a-b", "c.d.", "x", "y", "...", "the"]

Sentence = list[ParseWord]


@st.composite
def sentences(draw: st.DrawFn, max_words: int = 10, words: list[str] = WORDS) -> Sentence:
    """A sentence of up to `max_words` words with random trees: a word depends on an earlier one or none."""
    size = draw(st.integers(0, max_words))
    order = draw(st.permutations(range(size)))
    heads = [-1] * size
    for rank, word in enumerate(order):
        # Roots are rare, so that sentences of one tree and of several both occur.
        head = draw(st.integers(-1 if draw(st.integers(0, 3)) == 0 else 0, rank - 1)) if rank else -1
        heads[word] = order[head] if head >= 0 else -1
    return [ParseWord(draw(st.sampled_from(words)), head) for head in heads]


def parses(max_words: int = 10, words: list[str] = WORDS) -> st.SearchStrategy[list[Sentence | None]]:
    """Sentences, some of them not parsed."""
    return st.lists(st.one_of(st.none(), sentences(max_words, words)), max_size=5)


def forest(parses: list[Sentence | None]) -> Forest:
    return decode([None if parse is None else encode(parse, PLAIN) for parse in parses])


def plain(parse: Sentence) -> Parse:
    """As the definition takes it. The terms are split here by hand: letters and digits, lowered."""
    return [
        Node(
            tuple(dict.fromkeys("".join(c if c.isalnum() else " " for c in word.word).lower().split())),
            word.head,
        )
        for word in parse
    ]


def chain(words: list[str]) -> Sentence:
    """Each word depends on the one before."""
    return [ParseWord(word, place - 1) for place, word in enumerate(words)]
