from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from esr.errors import UsageError
from esr.models import MODELS
from esr.ranking.explanation.explain import explain
from esr.ranking.explanation.sentence_tree import TermDistance, sentence_tree
from esr.ranking.prepared_query import known_scores
from esr.ranking.ranking import Origin, Ranking
from esr.ranking.searcher import Searcher, open_searcher
from esr.text.document import Document, ParseWord, Sentence
from tests.support import worked_examples as worked
from tests.support.elasticsearch import document as document_there
from tests.support.elasticsearch import load as load_there
from tests.support.folder_index import document, load
from tests.support.runs import need

CHINA = Sentence("E.s1", "china " * 100, parse=(ParseWord("china", -1),))
PRIORS = {"importance": 0.5, "importance-surrounding": -1.0, "length": 2.0}


@pytest.fixture(scope="module")
def searcher(tmp_path_factory: pytest.TempPathFactory) -> Searcher:
    where = tmp_path_factory.mktemp("explained") / "index"
    news = [*worked.documents(), document("E", "", CHINA, title="fund headline")]
    load(where, news)
    return open_searcher(str(where))


MODEL_CONTEXTS = [(model.name, context) for model in MODELS.values() for context in (None, *model.contexts)]


@pytest.mark.parametrize(("model", "context"), MODEL_CONTEXTS)
def test_the_parts_add_up_to_the_score_that_the_search_gives(
    searcher: Searcher, model: str, context: str | None
) -> None:
    ranking = Ranking(model, context, priors=PRIORS, candidates="all")
    query = "relief fund relief unseenword headline"
    hits = searcher.search(query, 100, ranking=ranking).hits
    assert hits
    for hit in hits:
        explanation = explain(searcher.prepare(query, ranking), hit.sentence_id)
        assert explanation.score == pytest.approx(hit.score, rel=1e-12)
        parts = (
            [part.adds for part in explanation.terms]
            + [explanation.length]
            + [p.adds for p in explanation.priors]
        )
        assert sum(parts) == pytest.approx(explanation.first, rel=1e-9, abs=1e-9)
        assert (explanation.first == explanation.score) == (explanation.second is None)
        assert explanation.unseen == ("unseenword",)


def test_a_query_of_fields_alone_is_explained_with_the_score_that_the_search_gives(anywhere: str) -> None:
    load_there(anywhere, [document_there("a", "harbour strike", "long harbour strike ends", source="Wire")])
    ranking = Ranking(priors={"length": 1.0})
    with open_searcher(anywhere) as opened:
        prepared = opened.prepare("source:Wire", ranking)
        hits = opened.search("source:Wire", ranking=ranking).hits
        assert len({hit.score for hit in hits}) == 2
        for hit in hits:
            assert explain(prepared, hit.sentence_id).score == pytest.approx(hit.score)
        assert known_scores(prepared, [hit.sentence_id for hit in hits]) == pytest.approx(
            [hit.score for hit in hits]
        )


def test_a_terms_counts_and_lengths_are_those_of_the_text(searcher: Searcher) -> None:
    explanation = explain(searcher.prepare("earthquake", Ranking("2si", "both")), "D1.2")
    (term,) = explanation.terms
    counts = {f.origin.name: (f.count, f.length) for f in term.fields}
    assert counts == {"sentence": (1, 5), "surrounding": (2, 12), "document": (2, 12)}
    assert term.probability == pytest.approx(4 / 132)


def test_a_prior_has_its_value_and_weight(searcher: Searcher) -> None:
    explanation = explain(searcher.prepare("china", Ranking("jm", priors={"length": 3.0})), "D1.1")
    (prior,) = explanation.priors
    assert (prior.origin.name, prior.value, prior.weight) == ("length", 4.0, 3.0)
    assert prior.adds == pytest.approx(3 * math.log(4 / 132))


def test_a_sentence_without_a_value_is_null_in_json(searcher: Searcher) -> None:
    for weight in (1.0, 0.0, -1.0):
        data = explain(searcher.prepare("china", Ranking("jm", priors={"length": weight})), "E.s0").as_dict()
        assert data["score"] is None and data["priors"][0]["adds"] is None
        json.dumps(data, allow_nan=False)


@pytest.mark.parametrize(
    ("model", "params"), [("jm", {"lambda": 1}), ("2s", {"lambda": 1}), ("3mm", {"lambda": 0, "gamma": 0})]
)
def test_a_mixture_of_the_collection_alone_is_explained(
    searcher: Searcher, model: str, params: dict[str, Any]
) -> None:
    explanation = explain(searcher.prepare("china", Ranking(model, params=params)), "D1.1")
    assert explanation.terms[0].adds + explanation.length == pytest.approx(explanation.score)


def test_a_query_of_unseen_words_explains_nothing(searcher: Searcher) -> None:
    explanation = explain(searcher.prepare("unseenword", Ranking()), "D1.1")
    assert (explanation.score, explanation.terms, explanation.unseen) == (0.0, [], ("unseenword",))


def test_an_unknown_sentence_is_named(searcher: Searcher) -> None:
    for query in ("china", "unseenword"):
        with pytest.raises(UsageError, match=r"there is no sentence 'D9\.1'"):
            explain(searcher.prepare(query, Ranking()), "D9.1")


FEATURES = [
    {"feature": "subj", "form": "linear", "w": 0.5},
    {"feature": "len", "form": "log", "w": 0.1},
    {"feature": "pos", "form": "floe", "curve": {"values": [0, 1, 2], "adds": [0.25, -0.5, 1.5]}},
]


def test_features_have_their_value_their_form_and_what_they_add(searcher: Searcher) -> None:
    ranking = Ranking.from_dict({"model": "tfisf", "candidates": "all", "features": FEATURES})
    explanation = explain(searcher.prepare("china", ranking), "D1.3")
    assert [part.as_dict() for part in explanation.features] == [
        {"feature": "subj", "value": 1.0, "form": "linear", "w": 0.5, "adds": 0.5},
        {"feature": "len", "value": 3.0, "form": "log", "w": 0.1, "shift": 1.0, "adds": 0.1 * math.log(4)},
        {"feature": "pos", "value": 2.0, "form": "floe", "adds": 1.5},
    ]
    for hit in searcher.search("china relief", 100, ranking=ranking).hits:
        explanation = explain(searcher.prepare("china relief", ranking), hit.sentence_id)
        assert explanation.score == hit.score
        parts = [part.adds for part in (*explanation.terms, *explanation.features)]
        assert sum(parts) + explanation.length == pytest.approx(hit.score, rel=1e-9, abs=1e-9)


def test_an_unknown_feature_has_no_value(searcher: Searcher) -> None:
    ranking = Ranking.from_dict({"priors": {"length": 1.0}, "features": FEATURES})
    explanation = explain(searcher.prepare("china", ranking), "E.s1")
    assert [(p.origin.name, p.value, p.adds == 0) for p in explanation.features] == [
        ("subj", None, True),
        ("len", 100.0, False),
        ("pos", None, True),
    ]
    assert [p.origin.name for p in explanation.priors] == ["length"]
    json.dumps(explanation.as_dict(), allow_nan=False)


def test_each_part_carries_its_origin_and_the_rows_add_up_to_the_first_stage(searcher: Searcher) -> None:
    data = {"model": "2si", "context": "document", "priors": {"length": 1.0}, "features": FEATURES[:2]}
    rerank = [{"signal": "dir", "w": 0.5}]
    prepared = searcher.prepare("china", Ranking.from_dict({**data, "rerank": rerank}))
    explanation = explain(prepared, "D1.1")
    additions = [addition for _, row in explanation.rows for addition in row]
    assert sum(addition.adds for addition in additions) == pytest.approx(explanation.first, rel=1e-12)
    assert [addition.origin for addition in additions if addition.origin.kind != "length"] == [
        Origin("field", "sentence", "china"),
        Origin("field", "document", "china"),
        Origin("collection", "collection", "china"),
        Origin("prior", "length"),
        Origin("feature", "subj", "linear"),
        Origin("feature", "len", "log"),
    ]
    assert explanation.second is not None
    assert [addition.origin for addition in explanation.second.additions] == [Origin("signal", "dir")]
    static_scores = [static_score for _, static_score in prepared.static_scores()]
    assert static_scores == list(explanation.plan.static_scores)


WORDS = ["Relief", "teams", "reached", "the", "earthquake", "zone", "with", "relief", "tents"]
HEADS = [1, 2, -1, 5, 5, 2, 2, 8, 6]
PARSE = tuple(ParseWord(word, head) for word, head in zip(WORDS, HEADS, strict=True))
SENTENCES = (
    Sentence("a.s0", " ".join(WORDS), parse=PARSE),
    Sentence("a.s1", "Relief came.", parse=None),
)


@pytest.fixture(scope="module")
def searcher_of_sentence_tree(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    where = str(tmp_path_factory.mktemp("tree") / "index")
    load_there(where, [Document("a", SENTENCES)], analyzer="plain")
    with open_searcher(where) as searcher:
        yield searcher


def test_a_tree_has_its_words_and_the_places_of_query_words(searcher_of_sentence_tree: Searcher) -> None:
    tree = sentence_tree(searcher_of_sentence_tree.index, ["earthquake", "relief", "unseen"], "a.s0")
    assert tree is not None
    assert tree.words == PARSE
    assert tree.marked == (0, 4, 7)


def test_two_terms_are_as_far_apart_as_the_nearest_of_their_words(
    searcher_of_sentence_tree: Searcher,
) -> None:
    tree = sentence_tree(searcher_of_sentence_tree.index, ["earthquake", "relief", "teams"], "a.s0")
    assert tree is not None
    assert tree.apart == (
        TermDistance(("relief", "teams"), (0, 1), 1),
        TermDistance(("earthquake", "teams"), (4, 1), 3),
        TermDistance(("earthquake", "relief"), (4, 0), 4),
    )


def test_without_a_parse_there_is_no_tree(searcher_of_sentence_tree: Searcher) -> None:
    assert sentence_tree(searcher_of_sentence_tree.index, ["relief"], "a.s1") is None


def test_a_parse_of_the_enrichment_takes_its_words_from_the_text(tmp_path: Path) -> None:
    need("spacy")
    from esr.enrichment.recipe import Recipe
    from esr.text.sentence_enrichment import SentenceEnrichment

    load_there(str(tmp_path / "i"), [Document("a", (SENTENCES[1],))], analyzer="plain")
    with open_searcher(str(tmp_path / "i")) as searcher:
        parse = tuple(ParseWord(w, h) for w, h in zip(("Relief", "came", "."), (1, -1, 1), strict=True))
        recipe = Recipe(("parse",), {"spacy": "1"})
        with searcher.index.enrichment() as stored:
            stored.store(recipe, [("a", [SentenceEnrichment({}, None, parse)])])
        tree = sentence_tree(searcher.index, ["relief"], "a.s1")
        assert tree is not None and tree.words == parse and tree.marked == (0,)
