"""The analyzer of a new index is that of its documents' language."""

from __future__ import annotations

import pytest

from esr.analysis import all_definitions, choice, definitions


@pytest.mark.parametrize(
    ("languages", "analyzer"),
    [
        ([], "english-stem"),
        ([None, ""], "english-stem"),
        (["en"] * 3, "english-stem"),
        (["de"] * 9 + ["fr"], "german"),
        (["de"] * 8 + ["fr"] * 2, "multilingual"),
        (["de"] * 2 + [None] * 90, "german"),
        (["de-AT", "DE", "de_CH"], "german"),
        (["nb", "nb", "nb"], "norwegian"),
        (["zh"] * 3, "multilingual"),
        (["xx"] * 3, "multilingual"),
    ],
)
def test_nine_in_ten_documents_of_one_language_choose_its_analyzer(
    languages: list[str | None], analyzer: str
) -> None:
    assert choice.choose(languages).analyzer == analyzer


def test_the_reason_says_what_was_seen() -> None:
    assert choice.choose(["de", "de"]).reason == "2 of the first 2 documents are in de"
    assert choice.choose(["de", "fr"]).reason == (
        "the first 2 documents are in several languages: de 1, fr 1"
    )
    assert choice.choose(["a", "b", "c", "d"]).reason.endswith("a 1, b 1, c 1, …")
    assert choice.choose([None]).reason == "no language of the first 1 documents is known"


def test_documents_in_other_languages_do_not_fit() -> None:
    languages = {"de": 5, "fr": 2, "": 1}
    assert choice.misfits(languages, definitions.get("german")) == {"fr": 2}
    assert choice.misfits(languages, definitions.get("multilingual")) == {}
    assert choice.misfits(languages, definitions.get("plain")) == {}


def test_no_language_has_two_analyzers() -> None:
    """But English, which the papers' analysis is for as well."""
    of_languages = (d for d in all_definitions().values() if d.name != "english")
    codes = [code for definition in of_languages for code in definition.languages]
    assert len(codes) == len(set(codes)) >= 25
