from __future__ import annotations

import json
from pathlib import Path

import pytest

from esr.enrichment import enricher
from esr.enrichment.enricher import Enricher
from esr.enrichment.recipe import Recipe
from esr.errors import UsageError
from esr.features import FEATURES
from esr.features.feature import Feature
from esr.text.document import DEFAULT_PARTS as PARTS


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
