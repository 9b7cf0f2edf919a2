"""Parses: how they are stored, how their nodes relate, how a tree is drawn, and what a score names."""

from __future__ import annotations

import json
import re
from itertools import combinations
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esr.dependency.clique_search import clique_evidence
from esr.dependency.explanation import (
    PATH_COLOUR,
    SET_COLOUR,
    find_best_set,
    find_relations,
    lay_out,
    svg_tree,
    text_tree,
    words_between,
)
from esr.dependency.parses import Forest, decode, encode
from esr.dependency.random_fields import MRF_FAMILIES, compute_potentials, sum_potentials
from esr.dependency.tdsr import nearest_distances, score_best_sets
from esr.errors import IndexUnusable
from esr.stdlib import hash64
from esr.text.analyzer import get_analyzer
from esr.text.document import ParseWord
from tests.dependency.test_cliques import OPTIONS, QUERIES, mrf_settings
from tests.support import dependency_definition as definition
from tests.support import worked_examples as worked
from tests.support.dependency_definition import PLAIN, Sentence, chain, forest, parses, plain, sentences
from tests.support.runs import examples

pytestmark = pytest.mark.slow

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


@settings(max_examples=examples(150), deadline=None)
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


@settings(max_examples=examples(80), deadline=None)
@given(st.data())
def test_a_truncated_blob_is_an_error(data: st.DataObject) -> None:
    blob = encode(chain(["a", "b", "the c"]), PLAIN)
    end = data.draw(st.integers(0, len(blob) - 1))
    with pytest.raises(IndexUnusable, match="truncated or of another version"):
        decode([blob, blob[:end], blob])


@settings(max_examples=examples(80), deadline=None)
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
@settings(max_examples=examples(200), deadline=None)
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


SVG = "{http://www.w3.org/2000/svg}"
HIT = [
    ParseWord("an", 1),
    ParseWord("earthquake", 2),
    ParseWord("hit", -1),
    ParseWord("northern", 4),
    ParseWord("china", 2),
]


def test_a_tree_is_drawn_with_characters() -> None:
    assert text_tree(HIT, [1, 4], [4]) == (
        "hit\n"
        "├─ [earthquake]\n"
        "│  └─ an\n"
        "└─ [china] *\n"
        "   └─ northern\n"
    )  # fmt: skip


def test_several_trees_stand_below_each_other_and_odd_words_on_one_line() -> None:
    parse = [ParseWord("a\nb\x1b", -1), ParseWord("c", -1), ParseWord("\ud800", 1)]
    assert text_tree(parse, []) == "a\ufffdb\ufffd\nc\n└─ \ufffd\n"
    assert text_tree([], []) == ""


@settings(max_examples=examples(150), deadline=None)
@given(sentences(), st.data())
def test_the_links_between_words_are_those_of_their_paths(parse: Sentence, data: st.DataObject) -> None:
    words = data.draw(st.sets(st.integers(0, len(parse) - 1)) if parse else st.just(set()))
    tree = plain(parse)
    expected = set()
    for a, b in combinations(words, 2):
        if definition.distance(tree, a, b) is not None:
            expected |= set(definition.way(tree, a)) ^ set(definition.way(tree, b))
    assert words_between(lay_out(parse), words) == expected


@settings(max_examples=examples(100), deadline=None)
@given(
    sentences(words=["a", "<b>", "&", "]]>", '"', "'", "\x00", "\ud800", "\ufffe", "地震", "y" * 300]),
    st.booleans(),
)
def test_every_word_is_in_the_picture_and_nothing_breaks_it(parse: Sentence, standalone: bool) -> None:
    query_words = range(0, len(parse), 2)
    picture = ElementTree.fromstring(
        svg_tree(parse, query_words, [0] if parse else [], standalone=standalone)
    )
    texts = picture.findall(SVG + "text")
    assert len(texts) == len(parse)
    assert len(picture.findall(SVG + "rect")) == len(query_words)
    assert len(picture.findall(SVG + "path")) == sum(word.head >= 0 for word in parse)
    assert {element.tag for element in picture.iter()} <= {
        SVG + tag for tag in ("svg", "title", "style", "text", "rect", "path")
    }
    assert (picture.find(SVG + "style") is not None) == standalone
    width = float(picture.attrib["width"])
    for text, word in zip(texts, parse, strict=True):
        assert 0 < float(text.attrib["x"]) < width
        assert len(text.text or "") == min(len(word.word), 24)


@settings(max_examples=examples(100), deadline=None)
@given(sentences(max_words=15))
def test_words_stand_in_order_below_their_heads_and_never_over_each_other(parse: Sentence) -> None:
    all_words = range(len(parse))
    picture = ElementTree.fromstring(svg_tree(parse, all_words))
    x = [float(text.attrib["x"]) for text in picture.findall(SVG + "text")]
    y = [float(text.attrib["y"]) for text in picture.findall(SVG + "text")]
    assert x == sorted(x)
    assert all(y[word.head] < y[at] for at, word in enumerate(parse) if word.head >= 0)
    boxes = [(float(r.attrib["x"]), float(r.attrib["width"])) for r in picture.findall(SVG + "rect")]
    for a, b in combinations(all_words, 2):
        assert y[a] != y[b] or boxes[a][0] + boxes[a][1] < boxes[b][0]


def test_the_scoring_words_and_the_paths_between_them_stand_out() -> None:
    picture = ElementTree.fromstring(svg_tree(HIT, [1, 3, 4], [1, 4]))
    fills = [rect.attrib["fill"] for rect in picture.findall(SVG + "rect")]
    assert fills == [SET_COLOUR, "none", SET_COLOUR]
    assert [path.attrib["stroke"] for path in picture.findall(SVG + "path")] == ["currentColor"] * 2 + [
        PATH_COLOUR
    ] * 2
    whites = [t.text for t in picture.findall(SVG + "text") if t.attrib.get("fill") == "#ffffff"]
    assert whites == ["earthquake", "china"]


def test_within_a_page_the_picture_has_no_style() -> None:
    assert "style" not in svg_tree(HIT, [1], [1], standalone=False)
    assert "script" not in svg_tree(HIT, [1], [1])


def test_the_colours_are_visible_on_light_and_on_dark_paper() -> None:
    def light(colour: str) -> float:
        parts = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return sum(weight * p for weight, p in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    def contrast(a: str, b: str) -> float:
        low, high = sorted([light(a), light(b)])
        return (high + 0.05) / (low + 0.05)

    assert contrast("#ffffff", SET_COLOUR) >= 4.5
    for paper in ("#ffffff", "#fbf9f5", "#16181c", "#201e1b"):
        assert contrast(PATH_COLOUR, paper) >= 3
    inks = re.findall(r"color:(#\w+);background:(#\w+)", svg_tree(HIT, []))
    assert len(inks) == 2 and all(contrast(*pair) >= 7 for pair in inks)


def test_a_chain_of_400_words_is_drawn() -> None:
    parse = chain(["word"] * 400)
    assert len(text_tree(parse, []).splitlines()) == 400
    assert svg_tree(parse, []).count("<text") == 400


PARSES = {s.id: list(s.parse or ()) for located in worked.documents() for s in located.document.sentences}
QUERY = ["china", "earthquake", "relief"]
WEIGHTS = {"alpha": 0.5, "beta": 0.5, "lambda_SR": 0.5, "lambda_PR": 0.5}


def worked_example(sentence: str) -> tuple:
    number = list(PARSES).index(sentence)
    evidence = clique_evidence(forest(list(PARSES.values())), QUERY)
    parameters = mrf_settings(WEIGHTS)
    return evidence, score_best_sets(nearest_distances(evidence), 0.5, 0.9), parameters, number


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sentence", "terms", "words", "distance"),
    [
        ("D1.1", ("china", "earthquake"), (4, 1), 2.0),
        ("D1.2", ("earthquake",), (4,), 0.0),
        ("D2.2", ("china",), (4,), 0.0),
        ("D3.1", ("china", "earthquake", "relief"), (1, 2, 3), 4 / 3),
    ],
)
def test_the_term_set_of_the_worked_example_is_named(
    sentence: str, terms: tuple[str, ...], words: tuple[int, ...], distance: float
) -> None:
    evidence, best_sets, _, number = worked_example(sentence)
    best = find_best_set(evidence, best_sets, number)
    assert best is not None
    assert (best.terms, best.words) == (terms, words)
    assert best.distance == pytest.approx(distance)
    assert best.strength == best_sets.scores[number]
    json.dumps(best.as_dict())


@pytest.mark.slow
def test_a_sentence_without_a_query_term_has_no_term_set() -> None:
    evidence, best_sets, _, number = worked_example("D3.2")
    assert find_best_set(evidence, best_sets, number) is None


@pytest.mark.slow
def test_a_term_of_a_sentence_without_a_parse_has_no_words() -> None:
    evidence = clique_evidence(forest([None]), ["a", "b", "c"])
    counts = np.array([[0.0], [0.0], [2.0]])
    best_sets = score_best_sets(nearest_distances(evidence, counts), 0.5, 0.9)
    best = find_best_set(evidence, best_sets, 0, counts)
    assert best is not None
    assert (best.terms, best.words) == (("c",), ())


@pytest.mark.slow
def test_the_cliques_of_the_worked_example_are_named() -> None:
    evidence, _, parameters, number = worked_example("D3.1")
    relations = find_relations(
        evidence, compute_potentials("mrf_fdm", evidence, parameters), parameters, number
    )
    assert [(r.terms, r.potential, r.in_a_row, r.words, r.ancestor, r.height) for r in relations] == [
        (("earthquake", "relief"), "syntactic", True, (2, 3), 3, 1.0),
        (tuple(QUERY), "syntactic", True, (1, 2, 3), 3, 1.0),
        (("china", "earthquake"), "syntactic", True, (1, 2), 2, 2.0),
        (("china", "relief"), "proximity", False, (1, 3), 3, 1.0),
    ]
    assert [r.value for r in relations] == pytest.approx([0.25, 0.5 ** (4 / 3) * 0.5, 0.125, 0.125])
    assert [r.adds for r in relations] == pytest.approx([r.value / 2 for r in relations])
    json.dumps([r.as_dict() for r in relations])


@pytest.mark.slow
def test_an_ancestor_between_the_terms_is_named() -> None:
    evidence, _, parameters, number = worked_example("D1.1")
    (only,) = find_relations(
        evidence, compute_potentials("mrf_fdm", evidence, parameters), parameters, number
    )
    assert (only.potential, only.terms, only.ancestor, only.distance) == (
        "proximity",
        ("china", "earthquake"),
        2,
        2.0,
    )


@pytest.mark.slow
@settings(max_examples=examples(150), deadline=None)
@given(parses(), QUERIES, st.sampled_from(list(MRF_FAMILIES)), OPTIONS)
def test_the_relations_add_up_to_the_score(
    sentences: list[Sentence | None], query: list[str], name: str, options: dict
) -> None:
    parameters = mrf_settings(options)
    evidence = clique_evidence(forest(sentences), query)
    potentials = compute_potentials(name, evidence, parameters)
    scores = sum_potentials(potentials, parameters)
    for number, parse in enumerate(sentences):
        relations = find_relations(evidence, potentials, parameters, number)
        assert sum(r.adds for r in relations) == pytest.approx(scores[number], abs=1e-12)
        for r in relations:
            nodes, tree = list(r.words), plain(parse or [])
            assert all(term in tree[word].terms for term, word in zip(r.terms, nodes, strict=True))
            assert r.ancestor == definition.ancestor(tree, nodes)
            assert r.distance == pytest.approx(definition.mean_distance(tree, nodes))
            assert (r.potential == "proximity") or definition.connected(tree, nodes)


@pytest.mark.slow
@settings(max_examples=examples(100), deadline=None)
@given(parses(), QUERIES)
def test_the_named_set_has_the_strength_that_is_the_score(
    sentences: list[Sentence | None], query: list[str]
) -> None:
    evidence = clique_evidence(forest(sentences), query)
    best_sets = score_best_sets(nearest_distances(evidence), 0.4, 0.8)
    for number, parse in enumerate(sentences):
        best = find_best_set(evidence, best_sets, number)
        if best is None:
            assert best_sets.scores[number] == 0
            continue
        tree = plain(parse or [])
        assert all(term in tree[word].terms for term, word in zip(best.terms, best.words, strict=True))
        assert best.distance == pytest.approx(definition.mean_distance(tree, list(best.words)))
        strength = definition.strength(len(best.terms), best.distance, 0.4, 0.8, "exp")
        assert strength == pytest.approx(best_sets.scores[number])
