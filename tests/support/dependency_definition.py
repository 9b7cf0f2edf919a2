"""Term dependence by its definition in plain Python: docs/formulas.md, sections C and D.

One sentence at a time, no arrays. A sentence is its parse: for each word its terms and its head. It shares no
code with esr.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations, product
from math import prod
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

from esr.dependency.cliques import Array
from esr.dependency.parses import Forest, Indices, decode, encode
from esr.text.analyzer import get_analyzer
from esr.text.document import ParseWord


class Node(NamedTuple):
    terms: tuple[str, ...]
    head: int


Parse = list[Node]


def way(parse: Parse, node: int) -> list[int]:
    """The node and all above it, up to the root."""
    found = [node]
    while parse[found[-1]].head != -1:
        found.append(parse[found[-1]].head)
    return found


def depth(parse: Parse, node: int) -> int:
    return len(way(parse, node)) - 1


def ancestor(parse: Parse, nodes: list[int]) -> int | None:
    """The lowest common ancestor."""
    shared = set.intersection(*(set(way(parse, node)) for node in nodes))
    return max(shared, key=lambda node: depth(parse, node), default=None)


def distance(parse: Parse, a: int, b: int) -> int | None:
    """Links between two nodes, by walking outward from the first."""
    reached, links = {a}, 0
    while b not in reached:
        further = {n for n, word in enumerate(parse) if word.head in reached}
        further |= {parse[n].head for n in reached if parse[n].head != -1}
        if further <= reached:
            return None
        reached |= further
        links += 1
    return links


def mean_distance(parse: Parse, nodes: list[int]) -> float:
    pairs = [distance(parse, a, b) for a, b in combinations(nodes, 2)]
    assert None not in pairs
    return sum(d for d in pairs if d is not None) / len(pairs) if pairs else 0.0


def connected(parse: Parse, nodes: list[int]) -> bool:
    """Whether one reaches all of them from the first over links between them alone."""
    members, reached = set(nodes), {nodes[0]}
    while further := {
        n for n in members - reached if parse[n].head in reached or any(parse[r].head == n for r in reached)
    }:
        reached |= further
    return reached == members


def choices(parse: Parse, terms: tuple[str, ...]) -> list[list[int]]:
    """Every way to take one node a term, all in one tree."""
    places = [[n for n, word in enumerate(parse) if term in word.terms] for term in terms]
    return [list(nodes) for nodes in product(*places) if ancestor(parse, list(nodes)) is not None]


def sets(query: list[str], kind: str) -> list[tuple[str, ...]]:
    """The sets of distinct query terms, the larger later."""
    terms = list(dict.fromkeys(query))
    every = [chosen for k in range(1, len(terms) + 1) for chosen in combinations(terms, k)]
    return every if kind == "subsets" else [chosen for chosen in every if in_a_row(terms, chosen)]


def in_a_row(terms: list[str], chosen: tuple[str, ...]) -> bool:
    return terms.index(chosen[-1]) - terms.index(chosen[0]) == len(chosen) - 1


def strength(size: int, distance: float, alpha: float, beta: float, form: str) -> float:
    if form == "exp":
        return float(alpha ** (1 / size) * beta**distance)
    if form == "power":
        return float(size**alpha * max(distance, 1.0) ** -beta)
    return alpha * size + beta / (1 + distance)


def tdsr(
    query: list[str],
    text: list[str],
    parse: Parse | None,
    alpha: float,
    beta: float,
    form: str = "exp",
    sets_: str = "subsets",
) -> float:
    """SF(S, Q). A single term is looked for in the text, larger sets in the parse."""
    parse = parse or []
    known = set(text) | {term for word in parse for term in word.terms}
    values = [strength(1, 0.0, alpha, beta, form) for term in query if term in known]
    for terms in sets(query, sets_):
        if len(terms) > 1:
            values += [
                strength(len(terms), mean_distance(parse, nodes), alpha, beta, form)
                for nodes in choices(parse, terms)
            ]
    return max(values, default=0.0)


def height(parse: Parse, nodes: list[int], reading: str) -> float:
    depths = [depth(parse, node) for node in nodes]
    if reading == "lca":
        shared = ancestor(parse, nodes)
        assert shared is not None
        return depth(parse, shared)
    return {"top": min(depths), "mean": sum(depths) / len(depths), "max": max(depths)}[reading]


def dependence(query: list[str], parse: Parse | None, model: str, of: dict) -> tuple[float, float]:
    """The sums of f_SR and of f_PR over the model's cliques of several terms. `of`: parameters by name."""
    terms = list(dict.fromkeys(query))
    syntactic = near = 0.0
    for chosen in sets(query, "subsets") if parse and model != "mrf_fidm" else []:
        row = in_a_row(terms, chosen)
        if len(chosen) < 2 or (model == "mrf_sdm" and not (row and len(chosen) == 2)):
            continue
        ways = choices(parse, chosen)
        linked = [nodes for nodes in ways if connected(parse, nodes)]
        close = {
            "exclusive": [] if linked else ways,
            "inclusive": ways,
            "threshold": [nodes for nodes in ways if mean_distance(parse, nodes) <= of["max_dis"]],
        }[of["proximity"]]
        if row or of["sr_on_ud"] == "yes":
            syntactic += max((_value(parse, nodes, of, of["h_SR"]) for nodes in linked), default=0.0)
        near += max((_value(parse, nodes, of, of["h_PR"]) for nodes in close), default=0.0)
    return syntactic, near


def _value(parse: Parse, nodes: list[int], of: dict, reading: str) -> float:
    dis, h = mean_distance(parse, nodes), height(parse, nodes, reading)
    if of["form"] == "sum":
        return of["alpha"] / max(dis, 1.0) + of["beta"] / (1 + h)
    return prod([of["alpha"] ** dis, of["beta"] ** h])


# The first potential of the MRF: one query term and the sentence (docs/formulas.md, D.3).
#
# The paper's formula is lost. Any other score of sentences that is a sum over query terms, such as that of
# 2S-I, can stand in its place: the MRF takes an array.


@dataclass(frozen=True)
class TermCounts:
    """Of T distinct query terms and n sentences.

    `counts` (T, n): c(t,S); `lengths` (n): c(S); `in_query` (T): c(t,q); `probabilities` (T): p(t);
    `sentence_frequencies` (T): sf(t); `sentences`: how many the collection has.
    """

    counts: Array
    lengths: Array
    in_query: Array
    probabilities: Array
    sentence_frequencies: Array
    sentences: int


def _dirichlet(counts: TermCounts, seen: Indices, mu: float, lambda_: float) -> Array:
    """log( (c(t,S) + mu p(t)) / (c(S) + mu) )"""
    return np.log((counts.counts[seen] + mu * counts.probabilities[seen, None]) / (counts.lengths + mu))


def _jelinek_mercer(counts: TermCounts, seen: Indices, mu: float, lambda_: float) -> Array:
    """log( (1 - lambda) c(t,S)/c(S) + lambda p(t) ); an empty sentence has no terms."""
    share = counts.counts[seen] / np.maximum(counts.lengths, 1.0)
    return np.log((1.0 - lambda_) * share + lambda_ * counts.probabilities[seen, None])


def _tfisf(counts: TermCounts, seen: Indices, mu: float, lambda_: float) -> Array:
    """log(c(t,S) + 1) log( (n + 1) / (0.5 + sf(t)) )"""
    rarity = np.log((counts.sentences + 1.0) / (0.5 + counts.sentence_frequencies[seen]))
    return np.log1p(counts.counts[seen]) * rarity[:, None]


def _binary(counts: TermCounts, seen: Indices, mu: float, lambda_: float) -> Array:
    """1 if the sentence has the term, else 0."""
    return (counts.counts[seen] > 0).astype(np.float64)


READINGS: dict[str, Callable[[TermCounts, Indices, float, float], Array]] = {
    "dir": _dirichlet,
    "jm": _jelinek_mercer,
    "tfisf": _tfisf,
    "binary": _binary,
}


def single(counts: TermCounts, reading: str, mu: float, lambda_: float) -> Array:
    """(n): the sum of f_I over the positions of the query. A term that the collection lacks is dropped."""
    seen = np.flatnonzero(counts.probabilities > 0)
    return np.asarray(counts.in_query[seen] @ READINGS[reading](counts, seen, mu, lambda_))


# Random parses, and parses as plain lists.


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
