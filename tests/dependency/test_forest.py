from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from esr.dependency.forest import Forest
from esr.errors import IndexUnusable
from tests.support import dependency_definition as definition
from tests.support.parses import Sentence, chain, forest, parses, plain


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(parses())
def test_all_nodes_relate_as_defined(sentences: list[Sentence | None]) -> None:
    trees = forest(sentences)
    nodes = np.arange(len(trees.heads))
    paths = trees.paths(nodes)
    own = [(number, n) for number, parse in enumerate(sentences) for n in range(len(parse or []))]
    assert trees.sentences_of(nodes).tolist() == [number for number, _ in own]
    at = [plain(sentences[number] or []) for number, _ in own]
    assert paths.depths.tolist() == [definition.depth(p, n) for p, (_, n) in zip(at, own, strict=True)]
    i, j = (grid.ravel() for grid in np.meshgrid(nodes, nodes))
    lca_depths = paths.lca_depths(i, j)
    distances = paths.distances(i, j, lca_depths)
    ancestors = paths.ancestors(i, np.maximum(lca_depths, 0))
    for a, b, depth, links, ancestor in zip(i, j, lca_depths, distances, ancestors, strict=True):
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
    lca_depths = paths.lca_depths(first, second)
    assert lca_depths.tolist() == [100, 0, 100, -1]
    assert paths.distances(first, second, lca_depths).tolist() == [299, 399, 0, -1]


def test_heads_that_form_a_circle_are_an_error() -> None:
    none = np.empty(0, np.intp)
    trees = Forest(np.array([0, 3]), np.array([1, 2, 0]), none, none.astype(np.uint64))
    with pytest.raises(IndexUnusable, match="form a circle"):
        trees.paths(np.array([0]))
