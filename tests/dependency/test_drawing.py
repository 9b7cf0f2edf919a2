from __future__ import annotations

import re
from itertools import combinations
from xml.etree import ElementTree

from hypothesis import given, settings
from hypothesis import strategies as st

from esr.dependency.drawing import PATH_COLOUR, SET_COLOUR, lay_out, svg_tree, text_tree, words_between
from esr.text.document import ParseWord
from tests.support import dependency_definition as definition
from tests.support.parses import Sentence, chain, plain, sentences

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


@settings(max_examples=150, deadline=None)
@given(sentences(), st.data())
def test_the_links_between_words_are_those_of_their_paths(parse: Sentence, data: st.DataObject) -> None:
    words = data.draw(st.sets(st.integers(0, len(parse) - 1)) if parse else st.just(set()))
    tree = plain(parse)
    expected = set()
    for a, b in combinations(words, 2):
        if definition.distance(tree, a, b) is not None:
            expected |= set(definition.way(tree, a)) ^ set(definition.way(tree, b))
    assert words_between(lay_out(parse), words) == expected


@settings(max_examples=100, deadline=None)
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


@settings(max_examples=100, deadline=None)
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
