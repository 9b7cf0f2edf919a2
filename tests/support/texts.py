"""Texts that may be queries: of pieces of the query language, of odd characters, and of both."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from functools import cache

from hypothesis import strategies as st

from esr.query import FIELDS, ParsedQuery
from esr.query.query import Conjunction, Disjunction, Expression, Negation
from esr.query.quote_marks import CLOSING_MARKS
from esr.stdlib import batched
from esr.text.analysis.tokenizer import classes
from esr.text.analyzer_definitions import get_definition

SYNTAX = (
    *("+", "-", "--", "+-", "−", "–", "*", "**", "(", ")", ":", "::", "|", "&", "^", "~", "[", "]", "\\"),
    *("OR", "NOT", "AND", "or", "Not", " OR ", " NOT ", " AND ", " -", " +"),
    *CLOSING_MARKS,
    *{mark for marks in CLOSING_MARKS.values() for mark in marks},
    *("'", "’", "‘", "``", "''"),
    *(f"{name}:" for field in FIELDS for name in (field.name, *field.aliases)),
    *("TITLE:", "sorce:", "foo:", "http://", "text:"),
)
WORDS = (
    *("a", "b", "climat", "Brexit", "C++", "5-4", "don't", '12"', "x.y/z"),
    *("naïve", "中国", "हिन्दी", "ß", "½", "de", "pt_BR", "bbc.co.uk"),
    *("2017", "2017-03", "2017-02-30", "2017-01-15", "2017-W05", "0000"),
)
SPACES = (" ", "  ", "\n", "\t", "\r\n", "\u00a0", "\u2003", "\u3000", "\u2028", "\x1c")
ODD = ("\u200b", "\u200d", "\ufeff", "\u202e", "\u0301", "\u093f", "\x00", "\ud800", "\U0001f642", "ǅ", "İ")

_PIECES = (SYNTAX, WORDS, SPACES, ODD)
_CHUNK_PARTS = (
    ("", "", "+", "-", "--", "NOT ", "NOT -", "NOT +", "NOT NOT ", "OR ", "AND ", "(", "-(", "NOT (", "(("),
    ("", "", *(f"{field.name}:" for field in FIELDS), "lang:", "Org:", "titel:", "foo:"),
    ("a", "b*", "c*d", "&", "(e", "2017", "de", '"f g"', '"?"', '"h', "„i «j»“", "«k", ""),
    (" ", " ", "\n", "", " OR ", " OR ", " OR OR ", " NOT ", " AND ", ")", ") ", ") OR ", " AND ("),
)
"""Chunks as people type them: a sign, a field, a value, and what leads to the next chunk."""


def query_texts() -> st.SearchStrategy[str]:
    """Texts for property tests."""
    piece = st.one_of(
        *map(st.sampled_from, _PIECES), st.characters(categories=("L", "M", "N", "P", "S", "Z", "C"))
    )
    chunk = st.tuples(*map(st.sampled_from, _CHUNK_PARTS)).map("".join)
    return st.one_of(*(st.lists(part, max_size=20).map("".join) for part in (piece, chunk)), st.text())


def random_query_text(rng: random.Random) -> str:
    """A text of up to 15 pieces or 6 chunks."""
    if rng.random() < 0.5:
        return "".join(rng.choice(part) for _ in range(rng.randint(0, 6)) for part in _CHUNK_PARTS)
    return "".join(rng.choice(rng.choice(_PIECES)) for _ in range(rng.randint(0, 15)))


Shape = list[tuple[str, list[tuple[str, str, str]], str]]


def shape_of(query: ParsedQuery) -> Shape:
    """The groups of a query without their places: role, clauses, and what an expression makes of these."""
    return [
        (g.role, [(c.field, c.form, c.text) for c in g.clauses], _shape(g.expression)) for g in query.groups
    ]


def _shape(expression: Expression | None) -> str:
    match expression:
        case None:
            return ""
        case Conjunction(parts) | Disjunction(parts):
            return f"{type(expression).__name__}({', '.join(map(_shape, parts))})"
        case Negation(part):
            return f"not {_shape(part)}"
        case clause:
            return clause.text


# Texts that nobody wrote: words put together from those of a language, and characters of all classes.


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
