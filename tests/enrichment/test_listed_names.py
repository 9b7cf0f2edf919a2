"""Names by capital letters and lists, in languages for which spaCy has no model."""

from __future__ import annotations

import pytest

from esr.enrichment.enricher import Enricher
from esr.enrichment.listed_names import LANGUAGES, describe_method, find_names
from esr.enrichment.recipe import Recipe
from tests.support.elasticsearch import document

SHORT = {"person": "P", "location": "L", "organization": "O"}


def find(language: str, *sentences: str) -> list[str]:
    """The names of a document, each after the first letter of its type."""
    names = find_names(document("a", *sentences), language)
    return [f"{SHORT[name.type]} {name.text}" for of_sentence in names for name in of_sentence]


@pytest.mark.parametrize(
    ("language", "text", "names"),
    [
        ("tr", "Dün Mehmet Yılmaz'ın konuşması Ankara'da bitti.", ["P Mehmet Yılmaz", "L Ankara"]),
        ("tr", "Cumhurbaşkanı Yılmaz konuştu.", ["P Yılmaz"]),
        ("tr", "Toplantı Gürpınar'da yapıldı.", ["L Gürpınar"]),
        ("tr", "Yeni yasa Çevre Bakanlığı'ndan geldi.", ["O Çevre Bakanlığı"]),
        ("tr", "Kızılırmak Nehri taştı, ABD ve NATO yardım etti.", ["L Kızılırmak Nehri", "L ABD", "O NATO"]),
        ("tr", "Büyük bir fırtına Ocak'ta başladı.", []),
        ("tr", "Papa VI. Paul geldi.", ["P VI. Paul"]),
        ("vi", "Hôm qua ông Nguyễn Văn An đến Hà Nội.", ["P Nguyễn Văn An", "L Hà Nội"]),
        ("vi", "Trường Đại học Quảng Tây mở cửa ở Springfield.", ["O Đại học Quảng Tây", "L Springfield"]),
        ("vi", "Cuộc họp tại Trung tâm bắt đầu lúc ba giờ.", []),
        ("vi", "Thủ tướng Nhật Bản John Smith nói.", ["L Nhật Bản", "P John Smith"]),
        ("sw", "Rais John Mwakitwange aliwasili mjini Kigoma.", ["P John Mwakitwange", "L Kigoma"]),
        ("sw", "Leo Wizara ya Afya ilitangaza, asema Asha Ngowi.", ["O Wizara ya Afya", "P Asha Ngowi"]),
        ("sw", "Alisema chama cha Umoja kimeshinda nchini Kenya.", ["O Umoja", "L Kenya"]),
        ("ar", "وصل الوفد إلى القاهرة قادما من فرنسا.", ["L القاهرة", "L فرنسا"]),
        ("ar", "اجتمع الوزراء بفرنسا ولبنان.", ["L فرنسا", "L لبنان"]),
        ("hi", "वह कल जापान और फ़्रांस गए।", ["L जापान", "L फ़्रांस"]),
    ],
)
def test_lists_and_words_beside_a_name_tell_its_type(language: str, text: str, names: list[str]) -> None:
    assert find(language, text) == names


def test_the_last_name_of_a_person_of_the_document_is_a_person() -> None:
    assert find("tr", "Ahmet Karagöl geldi.", "Sonra Karagöl gitti.") == ["P Ahmet Karagöl", "P Karagöl"]
    assert find("tr", "Sonra Karagöl gitti.") == []


def test_a_capital_from_the_beginning_of_a_sentence_makes_no_name() -> None:
    assert find("sw", "Serikali ilisema hivyo.", "Watu wengi walikuja.") == []
    assert find("tr", "Fırtına Mehmet Yılmaz'ı durdurmadı, fırtına sürdü.") == ["P Mehmet Yılmaz"]


def test_a_suffix_after_an_apostrophe_is_no_part_of_a_name() -> None:
    assert find("tr", "Ayşe Demirkan’ın evi İzmir’deydi.") == ["P Ayşe Demirkan", "L İzmir"]


@pytest.mark.slow
def test_enrichment_finds_these_names_where_no_model_is_installed() -> None:
    enricher = Enricher(["entities"])
    (names,) = enricher.enrich(document("a", "Mehmet Yılmaz Ankara'da konuştu.", language="tr"))
    assert [name.text for name in names.entities or ()] == ["Mehmet Yılmaz", "Ankara"]
    (none,) = enricher.enrich(document("a", "Mehmet Yılmaz Ankara'da.", language="gl"))
    assert none.entities is None


@pytest.mark.slow
def test_only_names_in_these_languages_depend_on_the_lists() -> None:
    recipe = Enricher(["entities", "features"]).recipe
    older = Recipe(recipe.parts, {**recipe.versions, "listed names": "0"})
    assert [
        code for code in ("en", "de", "tr", "vi", "sw", "ar", "hi") if recipe.agrees(older, "entities", code)
    ] == [
        "en",
        "de",
    ]
    assert recipe.agrees(older, "features", "tr")


def test_each_language_says_how_its_names_are_found() -> None:
    assert {code: describe_method(code) for code in LANGUAGES} == {
        "sw": "names by capital letters and lists",
        "tr": "names by capital letters and lists",
        "vi": "names by capital letters and lists",
        "ar": "places by lists",
        "hi": "places by lists",
    }
