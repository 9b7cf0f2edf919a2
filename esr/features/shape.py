"""Features of form and position: names, direct speech, figures, new terms, title, length and position.

`pers`, `loc`, `org`, `ne` and `len` are F_pers, F_loc, F_org, F_ne and F_len of Fernández & Losada 2012
(docs/formulas.md, B.8). Length and position are stored with every index, so they are registered without a
function that computes them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

from esr.features.feature import Feature, FeatureInput, Values, register
from esr.stdlib import compile_lazily
from esr.text.sentence_enrichment import LOCATION, ORGANIZATION, PERSON


def count_entities(types: tuple[str, ...], inputs: FeatureInput) -> Values:
    """The number of entities of these types in each sentence; None if entities were not annotated."""
    return [
        None if s is None or s.entities is None else float(sum(e.type in types for e in s.entities))
        for s in inputs.annotations
    ]


for _name, _description, _types in (
    ("pers", "number of persons' names", (PERSON,)),
    ("loc", "number of names of places", (LOCATION,)),
    ("org", "number of names of organisations", (ORGANIZATION,)),
    ("ne", "number of named entities: pers + loc + org", (PERSON, LOCATION, ORGANIZATION)),
):
    _source = f"Fernández & Losada 2012, F_{_name}"
    register(Feature(_name, _description, _source, partial(count_entities, _types), ("entities",)))


# Direct speech. Double quotation marks are paired across the whole document, so the middle of a quotation of
# several sentences counts. A paragraph that repeats the opening mark does not end the quotation. An opening
# mark without a closing one extends to the end of its sentence. Single curly marks are paired within a
# sentence, because the closing one is also an apostrophe. Straight single marks are ignored.

# Maximum distance, in sentences, from an opening mark or its last repetition to the closing one.
_MAX_QUOTED_SENTENCES = 10

_WORD = compile_lazily(r"\w+(?:['’]\w+)*")
_MARK = compile_lazily(r"[“”«»\"]|``|''")
_SINGLE = compile_lazily(r"‘(?!\d0s)(?=\w)(?:[^‘’]|’(?=\w))*’(?!\w)")
_OPENING, _CLOSING = {"“", "«", "``"}, {"”", "»", "''"}


class _Mark(NamedTuple):
    sentence: int
    start: int
    kind: str  # "open", "close", or "either" for a straight mark between two spaces
    is_first: bool  # nothing precedes it in its sentence


class _Span(NamedTuple):
    """From a mark to an offset in the same or a later sentence; None is the end of the sentence."""

    start: _Mark
    last: int
    end: int | None


def compute_quoted_share(inputs: FeatureInput) -> Values:
    """The share of each sentence's words between quotation marks, for English sentences."""
    texts = [sentence.text for sentence in inputs.document.sentences]
    quoted: list[list[tuple[int, int]]] = [[m.span() for m in _SINGLE.finditer(text)] for text in texts]
    for span in _pair_marks(_find_marks(texts)):
        for number in range(span.start.sentence, span.last + 1):
            start = span.start.start if number == span.start.sentence else 0
            end = span.end if number == span.last and span.end is not None else len(texts[number])
            quoted[number].append((start, end))
    return [
        None if annotation is None else _share_within(text, spans)
        for text, spans, annotation in zip(texts, quoted, inputs.tagged, strict=True)
    ]


def _share_within(text: str, spans: Sequence[tuple[int, int]]) -> float | None:
    if not spans:
        return 0.0 if _WORD.search(text) else None
    words = [match.start() for match in _WORD.finditer(text)]
    quoted = sum(any(start <= word < end for start, end in spans) for word in words)
    return quoted / len(words) if words else None


def _find_marks(texts: Sequence[str]) -> Iterator[_Mark]:
    for number, text in enumerate(texts):
        for match in _MARK.finditer(text):
            start, end = match.span()
            kind = "open" if match[0] in _OPENING else "close" if match[0] in _CLOSING else None
            yield _Mark(number, start, kind or _straight_kind(text, start, end), not text[:start].strip())


def _straight_kind(text: str, start: int, end: int) -> str:
    """The kind of a straight mark: it opens after a space and closes before one."""
    before, after = text[start - 1 : start], text[end : end + 1]
    free_before = not before or before.isspace() or before in "([—–-"
    free_after = not after or after.isspace()
    if free_before and free_after:
        return "either"
    return "open" if free_before else "close"


def _pair_marks(marks: Iterator[_Mark]) -> Iterator[_Span]:
    start: _Mark | None = None
    latest = 0  # the sentence of the latest opening mark
    for mark in marks:
        near = start is not None and mark.sentence - latest <= _MAX_QUOTED_SENTENCES
        opens = mark.kind == "open" or (mark.kind == "either" and not near)
        if start is not None and opens and near and mark.is_first and mark.sentence > latest:
            latest = mark.sentence  # the next paragraph of the same speech
            continue
        if start is not None:
            closes = near and not opens
            yield _Span(start, mark.sentence, mark.start) if closes else _Span(start, start.sentence, None)
        start, latest = (mark, mark.sentence) if opens else (None, 0)
    if start is not None:
        yield _Span(start, start.sentence, None)


register(
    Feature(
        "quote",
        "share of the sentence's words in quotation marks, which may span sentences",
        "esr",
        compute_quoted_share,
    )
)


# "1,200.50", "2017-02-07", "10:30", "3rd" and the 16 of "16-year-old" are one figure each. The figures of
# names are not: "F-16", "COVID-19", "G20".
_FIGURE = compile_lazily(r"(?<![^\W_])(?<![^\W\d_]-)\d+(?:[.,:/-]\d+)*")


def count_figures(inputs: FeatureInput) -> Values:
    return [float(len(_FIGURE.findall(sentence.text))) for sentence in inputs.document.sentences]


register(
    Feature("numbers", "number of figures: 1,200.50 is one, the 16 of F-16 is none", "esr", count_figures)
)


def compute_novelty(inputs: FeatureInput) -> Values:
    """The share of a sentence's distinct terms that no earlier sentence has; the title does not count."""
    earlier: set[str] = set()
    shares: list[float | None] = []
    for terms in inputs.sentence_terms:
        shares.append(len(terms - earlier) / len(terms) if terms else None)
        earlier |= terms
    return shares


register(
    Feature(
        "novelty",
        "share of the sentence's terms that its document has not used before; 1 for the first sentence",
        "esr; new words, Allan, Wade & Bolivar 2003",
        compute_novelty,
    )
)


def compute_title_overlap(inputs: FeatureInput) -> Values:
    """The share of the title's distinct terms that a sentence has; None without a title."""
    title = set(inputs.terms(inputs.document.title or ""))
    if not title:
        return [None] * len(inputs.document.sentences)
    return [len(title & terms) / len(title) for terms in inputs.sentence_terms]


register(
    Feature(
        "title_overlap",
        "share of the title's terms that the sentence has",
        "esr; the title method, Edmundson 1969",
        compute_title_overlap,
        ("title",),
    )
)


register(
    Feature(
        "len",
        "number of terms, stop words left out",
        "Fernández & Losada 2012, F_len",
        None,
        own_column="length",
    )
)


register(
    Feature(
        "position",
        "position of the sentence in its document, from 0",
        "esr; the location method, Edmundson 1969",
        None,
        own_column="position",
    )
)
