from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from esr.dependency.trees import Forest
from esr.errors import IndexUnusable
from tests.dependency import definition
from tests.dependency.making import Sentence, chain, forest, parses, plain


@settings(max_examples=200, deadline=None)
@given(parses())
def test_all_nodes_relate_as_defined(given: list[Sentence | None]) -> None:
    trees = forest(given)
    nodes = np.arange(len(trees.heads))
    paths = trees.paths(nodes)
    own = [(number, n) for number, parse in enumerate(given) for n in range(len(parse or []))]
    assert trees.sentences(nodes).tolist() == [number for number, _ in own]
    at = [plain(given[number] or []) for number, _ in own]
    assert paths.depths.tolist() == [definition.depth(p, n) for p, (_, n) in zip(at, own, strict=True)]
    i, j = (each.ravel() for each in np.meshgrid(nodes, nodes))
    meet = paths.meet(i, j)
    distances = paths.distances(i, j, meet)
    ancestors = paths.ancestor(i, np.maximum(meet, 0))
    for a, b, depth, links, ancestor in zip(i, j, meet, distances, ancestors, strict=True):
        (sentence, node), (other_sentence, other) = own[a], own[b]
        shared = definition.ancestor(at[a], [node, other]) if sentence == other_sentence else None
        if shared is None:
            assert (depth, links) == (-1, -1)
        else:
            assert depth == definition.depth(at[a], shared)
            assert links == definition.distance(at[a], node, other)
            assert ancestor - trees.starts[sentence] == shared


def test_a_chain_of_400_words_is_walked() -> None:
    trees = forest([chain(["a"] * 400), None, chain(["a"] * 100)])
    paths = trees.paths(np.array([399, 100, 0, 499]))
    assert paths.depths.tolist() == [399, 100, 0, 99]
    first, second = np.array([0, 0, 1, 0]), np.array([1, 2, 1, 3])
    meet = paths.meet(first, second)
    assert meet.tolist() == [100, 0, 100, -1]
    assert paths.distances(first, second, meet).tolist() == [299, 399, 0, -1]


def test_heads_that_go_round_are_told() -> None:
    none = np.empty(0, np.intp)
    trees = Forest(np.array([0, 3]), np.array([1, 2, 0]), none, none.astype(np.uint64))
    with pytest.raises(IndexUnusable, match="go round"):
        trees.paths(np.array([0]))
