from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import esr
from esr.documents import Document, ParseWord, Sentence
from esr.ranking.searcher import Searcher
from esr.ranking.sentence_tree import TermDistance, sentence_tree
from tests.support.elasticsearch import load as load_there
from tests.support.needed import need

WORDS = ["Relief", "teams", "reached", "the", "earthquake", "zone", "with", "relief", "tents"]
HEADS = [1, 2, -1, 5, 5, 2, 2, 8, 6]
PARSE = tuple(ParseWord(word, head) for word, head in zip(WORDS, HEADS, strict=True))
SENTENCES = (
    Sentence("a.s0", " ".join(WORDS), parse=PARSE),
    Sentence("a.s1", "Relief came.", parse=None),
)


@pytest.fixture(scope="module")
def searcher(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    where = str(tmp_path_factory.mktemp("tree") / "index")
    load_there(where, [Document("a", SENTENCES)], analyzer="plain")
    with esr.open(where) as searcher:
        yield searcher


def test_a_tree_has_its_words_and_the_places_of_query_words(searcher: Searcher) -> None:
    tree = sentence_tree(searcher.index, ["earthquake", "relief", "unseen"], "a.s0")
    assert tree is not None
    assert tree.words == PARSE
    assert tree.marked == (0, 4, 7)


def test_two_terms_are_as_far_apart_as_the_nearest_of_their_words(searcher: Searcher) -> None:
    tree = sentence_tree(searcher.index, ["earthquake", "relief", "teams"], "a.s0")
    assert tree is not None
    assert tree.apart == (
        TermDistance(("relief", "teams"), (0, 1), 1),
        TermDistance(("earthquake", "teams"), (4, 1), 3),
        TermDistance(("earthquake", "relief"), (4, 0), 4),
    )


def test_without_a_parse_there_is_no_tree(searcher: Searcher) -> None:
    assert sentence_tree(searcher.index, ["relief"], "a.s1") is None


def test_a_parse_of_the_enrichment_takes_its_words_from_the_text(tmp_path: Path) -> None:
    need("spacy")
    from esr.documents.enrichment import SentenceEnrichment
    from esr.enrichment.recipe import Recipe

    load_there(str(tmp_path / "i"), [Document("a", (SENTENCES[1],))], analyzer="plain")
    with esr.open(str(tmp_path / "i")) as searcher:
        parse = tuple(ParseWord(w, h) for w, h in zip(("Relief", "came", "."), (1, -1, 1), strict=True))
        recipe = Recipe(("parse",), {"spacy": "1"})
        with searcher.index.enrichment() as stored:
            stored.store(recipe, [("a", [SentenceEnrichment({}, None, parse)])])
        tree = sentence_tree(searcher.index, ["relief"], "a.s1")
        assert tree is not None and tree.words == parse and tree.marked == (0,)
