"""Corpora, plans and rankings on which pruned answers are held to those of scoring everything."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any, TypeVar

from hypothesis import strategies as st

from esr import models
from esr.index.contract import Index
from esr.index.filters import Filters
from esr.plans.plan import (
    CANDIDATES,
    FIELDS,
    Affine,
    AllOf,
    AnyOf,
    Condition,
    Curve,
    HasPrefix,
    HasTerm,
    HasWords,
    Mixture,
    Not,
    Plan,
    PlanTerm,
    Saturation,
    Smoothing,
    StaticScore,
)
from esr.ranking.ranking import Ranking
from esr.text.dates import parse_date_start
from esr.text.document import Located, Sentence
from tests.support.folder_index import document

WORDS = ["bank", "fraud", "river", "flood", "relief", "vote", "court", "rare", "stone", "only"]
FIRST_STAGES = [
    (m.name, c) for m in models.MODELS.values() if m.second_stage is None for c in (m.contexts or (None,))
]
FILTERS = [
    Filters(),
    Filters(),
    Filters(date_from=parse_date_start("2025-03-01")),
    Filters(sources=("a",)),
    Filters(documents=("d0", "d2", "d3", "none")),
    Filters(sources=("b", "a"), date_to=parse_date_start("2025-05-05")),
]
CONDITIONS: list[Condition | None] = [
    None,
    HasTerm("bank"),
    Not(HasTerm("flood")),
    HasWords(("bank", "fraud")),
    HasPrefix("r"),
    AnyOf((HasWords(("only",)), AllOf((Not(HasWords(("vote", "court"))), HasPrefix("b"))))),
    HasWords(("bank",), "title"),
    HasTerm("unseen"),
]
QUERIES = ["bank", "only", "flood flood bank vote", "rare stone unseen", "only rare", " ".join(WORDS)]
SETTINGS: list[dict[str, Any]] = [
    {},
    {"priors": {"importance": 1.0}},
    {"priors": {"length": 1.5, "importance-surrounding": -0.5}},
    {"features": [{"feature": "x", "form": "satu"}, {"feature": "len", "form": "log"}]},
]
EXTREME_RANKINGS: list[dict[str, Any]] = [
    {"model": "2si", "params": {"mu": 1e-3}},
    {"model": "2si", "params": {"mu": 1e9, "lambda": 0.9, "nu": 0.1}},
    {"model": "2si", "context": "surrounding", "params": {"lambda": 1.0}},
    {"model": "2s", "params": {"lambda": 1.0}},
    {"model": "3mm", "params": {"lambda": 0.05, "form": "nested"}},
    {"model": "bm25f", "context": "both", "params": {"b_sent": 1, "b_context": 0, "k1": 50}},
    {"model": "bm25", "params": {"k1": 0, "b": 1}},
    {"model": "tfmix", "context": "surrounding", "params": {"alpha": 0.0}},
]
"""Parameters at the ends of their ranges."""


def numbered_document(
    number: int, texts: Sequence[str], features: Sequence[float | None], title: str | None
) -> Located:
    sentences = [
        Sentence(f"d{number}.s{n}", text, {} if value is None else {"x": value})
        for n, (text, value) in enumerate(zip(texts, features, strict=True))
    ]
    source, date = ("a", "b", None)[number % 3], None if number % 4 == 1 else f"2025-0{number % 9 + 1}-05"
    return document(f"d{number}", *sentences, title=title, source=source, date=date)


def plain_documents(bodies: Iterable[Sequence[str]]) -> list[Located]:
    """Documents of these sentences, without features and titles."""
    return [numbered_document(n, body, [None] * len(body), None) for n, body in enumerate(bodies)]


texts = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join) | st.builds(
    lambda word, n, rest: " ".join([word] * n + rest),
    st.sampled_from(WORDS),
    st.sampled_from([1, 2, 40, 300]),
    st.lists(st.sampled_from(WORDS), max_size=3),
)
values = st.none() | st.sampled_from([-3.0, 0.0, 0.5, 1.0, 1e9])


@st.composite
def documents(draw: st.DrawFn) -> list[Located]:
    """Some documents, some of them equal, some long, with features on some sentences."""
    drawn: list[Located] = []
    for _ in range(draw(st.integers(1, 9))):
        sentences = draw(st.lists(texts, max_size=6))
        if sentences and draw(st.integers(0, 9)) == 0:
            sentences *= 30
        features = draw(st.lists(values, min_size=len(sentences), max_size=len(sentences)))
        title = draw(st.none() | st.sampled_from(["river flood", "only title"]))
        for _ in range(draw(st.sampled_from([1, 1, 1, 3]))):
            drawn.append(numbered_document(len(drawn), sentences, features, title))
    return drawn


TURNING_CURVE = Curve((0.0, 1.0, 3.0), (0.5, -1.0, 2.0), (0.0, 1.0, 0.0), None)
"""A curve that falls below its least value between two others."""
share = st.sampled_from([0.0, 1e-9, 0.1, 0.5, 1.0, 30.0])
weight = st.sampled_from([-2.0, -0.3, 0.0, 1e-12, 0.5, 1.0, 1.0, 3.0, 1e4])
smoothing = st.builds(
    Smoothing, share, st.sampled_from([0.0, 0.3, 0.75, 1.0]), st.sampled_from([0.1, 9.0, 1e3])
)
falling = share.map(lambda a: Affine(a, -a))
affine = share.map(Affine) | falling | share.map(lambda a: Affine(0.0, a)) | st.builds(Affine, share, share)
collection = st.sampled_from([Affine(0.0, 1.0), Affine(0.25), Affine(1e-6, 2.0), Affine(1.0, -0.5)])
transforms: st.SearchStrategy[Mixture | Saturation] = st.builds(
    Mixture, st.sampled_from([0.0, 1e-3, 1.0, 30.0, 1e7]), affine, affine, affine, collection
) | st.builds(
    Saturation, st.none() | st.sampled_from([0.0, 0.001, 1.2, 50.0]), smoothing, smoothing, smoothing
)
static_scores = st.builds(
    StaticScore,
    st.sampled_from(["features.x", "length", "position", "importance", "importance_surrounding"]),
    st.sampled_from(["linear", "log", "step", "satu", "sigm", "curve"]),
    weight,
    st.sampled_from([0.0, -1.0, 2.5]),
    st.booleans(),
    st.sampled_from([0.0, 1.0]),
    st.sampled_from([0.5, 3.0]),
    st.sampled_from([1.0, 2.0]),
    st.just(TURNING_CURVE),
)


@st.composite
def plans(draw: st.DrawFn, *, tiny: bool = False) -> Plan:
    """Any plan, far beyond what models write. `tiny`: products of evidence may be less than a float holds."""
    transform = draw(transforms)
    if isinstance(transform, Saturation) and not any(True for _ in transform.fields()):
        transform = Saturation(None, Smoothing(1.0), Smoothing(), Smoothing())
    words = draw(st.lists(st.sampled_from([*WORDS, "unseen"]), min_size=1, max_size=11, unique=True))
    background = st.sampled_from([1e-9, 1e-3, 0.1, 1.0, *([1e-60, 1e-150] if tiny else [])])
    own = st.sampled_from([True, True, True, False])
    terms = tuple(PlanTerm(word, draw(weight), draw(background), draw(own)) for word in words)
    rule = draw(st.sampled_from(sorted(CANDIDATES)))
    context = draw(st.sampled_from(FIELDS[1:]))
    return Plan(terms, transform, rule, context, tuple(draw(st.lists(static_scores, max_size=3))))  # type: ignore[arg-type]


def adverse_documents(longest: int = 1000) -> list[Located]:
    """Equal documents; documents of no sentence, one, a thousand; a term 300 times; empty sentences.

    `longest`: the sentences of the longest document. Elasticsearch analyses all of it for each of them, so
    that a thousand take ten times as long as all else; the tests that load many indices take fewer.
    """
    chance = random.Random(7)

    def draw_sentences(n: int, low: int = 0, high: int = 14) -> list[str]:
        return [" ".join(chance.choices(WORDS[:-1], k=chance.randrange(low, high))) for _ in range(n)]

    bodies = [draw_sentences(size) for size in (0, 1, 1, 2, 5, 9, 30, longest)]
    bodies += (
        [draw_sentences(4, 3, 5)] * 12 + [["only"]] * 3 + [["flood " * 300, "flood"], ["", "", "bank"], [""]]
    )
    bodies += [draw_sentences(chance.randrange(1, 8)) for _ in range(60)]
    return [
        numbered_document(
            n, body, [None if m % 3 else m / 7 for m in range(len(body))], None if n % 5 else "river only"
        )
        for n, body in enumerate(bodies)
    ]


def make_plan(index: Index, query: str, ranking: Ranking) -> Plan:
    counts = Counter(index.analyzer.terms(query))
    return ranking.plan(counts, index.statistics(list(counts)))


# Cases that have every pair of the values of their dimensions, instead of every combination.


Case = TypeVar("Case")


def half(cases: Iterable[Case], row: int, number: int, side: int) -> list[Case]:
    """The cases of one of two places, side 0 or 1; both places together have them all.

    The cases are rows of the product of two dimensions, of even length `row`. Each place has each value of
    both; which case goes where changes with every second number.
    """
    return [case for n, case in enumerate(cases) if (n // row + n + number // 2) % 2 == side]


def check_pairs(groups: Sequence[Sequence[tuple[Any, ...]]], sizes: Sequence[int]) -> None:
    """Assert that the groups of cases together have every pair of values, and each triple of the first three.

    `sizes` has the number of values of each dimension. Each group has every pair of the first three, and
    every value of the others.
    """

    def count(cases: Sequence[tuple[Any, ...]], *dimensions: int) -> int:
        return len({tuple(repr(case[d]) for d in dimensions) for case in cases})

    every = [case for cases in groups for case in cases]
    for a, b in combinations(range(len(sizes)), 2):
        assert count(every, a, b) == sizes[a] * sizes[b], (a, b)
    assert count(every, 0, 1, 2) == sizes[0] * sizes[1] * sizes[2]
    for cases in groups:
        assert all(count(cases, a, b) == sizes[a] * sizes[b] for a, b in combinations(range(3), 2))
        assert all(count(cases, d) == sizes[d] for d in range(3, len(sizes)))
