from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esr.dependency.parses import Forest, decode, encode
from esr.errors import IndexUnusable
from esr.hashing import hash64
from esr.text.analyzer import get_analyzer
from esr.text.document import ParseWord
from tests.support import dependency_definition as definition
from tests.support.parses import PLAIN, Sentence, chain, forest, parses, plain

ENGLISH = get_analyzer("english-stem")


def test_a_stop_word_has_no_term_and_a_compound_has_several() -> None:
    forest = decode(
        [encode([ParseWord("the", 1), ParseWord("Anglo-Irish", 2), ParseWord("storms", -1)], ENGLISH)]
    )
    assert forest.heads.tolist() == [1, 2, -1]
    assert forest.term_nodes.tolist() == [1, 1, 2]
    assert forest.term_hashes.tolist() == [hash64("anglo"), hash64("irish"), hash64("storm")]


def test_a_term_that_a_word_has_twice_is_stored_once() -> None:
    forest = decode([encode([ParseWord("twenty-twenty", -1)], PLAIN)])
    assert forest.term_hashes.tolist() == [hash64("twenty")]


@settings(max_examples=150, deadline=None)
@given(parses())
def test_parses_come_back_one_after_another(sentences: list[Sentence | None]) -> None:
    forest = decode([None if parse is None else encode(parse, PLAIN) for parse in sentences])
    assert len(forest) == len(sentences)
    terms = []
    for number, parse in enumerate(sentences):
        start, end = forest.starts[number], forest.starts[number + 1]
        heads = [head - start if head >= 0 else -1 for head in forest.heads[start:end].tolist()]
        assert heads == [word.head for word in parse or []]
        terms += [(start + n, hash64(t)) for n, w in enumerate(plain(parse or [])) for t in w.terms]
    assert list(zip(forest.term_nodes.tolist(), forest.term_hashes.tolist(), strict=True)) == terms


def long_link(words: int) -> Sentence:
    """The first word depends on the last, all others on the word before."""
    return [
        ParseWord("w0", words - 1),
        *(ParseWord(f"w{n}", n - 1 if n > 1 else -1) for n in range(1, words)),
    ]


@pytest.mark.parametrize("words", [2, 127, 128, 129, 255, 256, 257, 32_768, 32_769, 65_537])
def test_sentences_of_every_length_lie_beside_each_other(words: int) -> None:
    sentences = [chain(["a", "b"]), long_link(words), None, long_link(300), chain(["c"])]
    forest = decode([None if parse is None else encode(parse, PLAIN) for parse in sentences])
    assert forest.starts.tolist() == [0, 2, 2 + words, 2 + words, 302 + words, 303 + words]
    assert forest.heads[:2].tolist() == [-1, 0]
    assert forest.heads[2] == 1 + words
    assert forest.heads[-2:].tolist() == [300 + words, -1]
    assert forest.term_nodes.tolist() == list(range(303 + words))
    assert forest.term_hashes[[0, 2, 1 + words]].tolist() == [hash64(w) for w in ("a", "w0", f"w{words - 1}")]


@pytest.mark.parametrize(("words", "width"), [(128, 1), (129, 2), (32_768, 2), (32_769, 4)])
def test_numbers_take_no_more_bytes_than_they_need(words: int, width: int) -> None:
    assert len(encode(long_link(words), PLAIN)) == 8 + words * (2 * width + 8)


def test_positions_beyond_256_take_two_bytes_though_heads_are_near() -> None:
    assert len(encode(chain(["a"] * 256), PLAIN)) == 8 + 256 * 10
    assert len(encode(chain(["a"] * 257), PLAIN)) == 8 + 257 * 12


def test_a_sentence_of_24_words_takes_about_130_bytes() -> None:
    words = [
        "The",
        "prime",
        "minister",
        "said",
        "on",
        "Tuesday",
        "that",
        "the",
        "government",
        "would",
        "send",
        "more",
        "aid",
        "to",
        "the",
        "northern",
        "provinces",
        "after",
        "the",
        "earthquake",
        ",",
        "officials",
        "in",
        "Beijing",
    ]
    assert len(words) == 24
    assert 110 <= len(encode(chain(words), ENGLISH)) <= 150


def test_no_sentence_and_no_words_are_fine() -> None:
    assert len(decode([])) == 0
    forest = decode([None, encode([], PLAIN)])
    assert forest.starts.tolist() == [0, 0, 0]
    assert not len(forest.heads)


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_a_truncated_blob_is_an_error(data: st.DataObject) -> None:
    blob = encode(chain(["a", "b", "the c"]), PLAIN)
    end = data.draw(st.integers(0, len(blob) - 1))
    with pytest.raises(IndexUnusable, match="truncated or of another version"):
        decode([blob, blob[:end], blob])


@settings(max_examples=80, deadline=None)
@given(
    st.one_of(
        st.binary().filter(lambda b: b[3:4] != b"\xd1"),
        # The header of one word and one term, which take 10 bytes.
        st.binary(min_size=11).map(lambda b: b"\x01\x00\x00\xd1\x01\x00\x00\x01" + b),
    )
)
def test_a_foreign_blob_is_an_error(blob: bytes) -> None:
    with pytest.raises(IndexUnusable):
        decode([encode(chain(["a"]), PLAIN), blob])


@pytest.mark.parametrize(
    "change",
    [(3, 0xD2), (7, 3), (8, 0xFF), (9, 2), (10, 2), (11, 9)],
    ids=["magic", "width", "head before", "head after", "position 0", "position 1"],
)
def test_a_damaged_blob_is_an_error(change: tuple[int, int]) -> None:
    blob = bytearray(encode([ParseWord("a", 1), ParseWord("b", -1)], PLAIN))
    blob[change[0]] = change[1]
    with pytest.raises(IndexUnusable):
        decode([bytes(blob)])


@pytest.mark.parametrize("head", [-2, 2, 0])
def test_a_head_that_is_no_other_word_is_refused(head: int) -> None:
    with pytest.raises(ValueError, match="head"):
        encode([ParseWord("a", head), ParseWord("b", -1)], PLAIN)


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
