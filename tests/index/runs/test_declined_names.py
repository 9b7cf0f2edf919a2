"""Declined forms of names in Slavic languages and Turkish, joined across the documents of a language."""

from __future__ import annotations

from pathlib import Path

import pytest

from esr.index.names import name_key, read_tables
from esr.index.questions import Names
from esr.index.runs.declined_names import declining_languages, find_declined
from esr.ranking.searcher import open_searcher
from tests.index.test_names import enrich, update
from tests.support.elasticsearch import document
from tests.support.index_contents import ENGINES, open_loaded

PERSON, PLACE = "person", "location"


def find(language: str, *names: str, type: str = PERSON) -> dict[str, list[str]]:
    """The declined forms among these names, the first in most documents."""
    return find_declined(language, {name_key(name): {type: 100 - n} for n, name in enumerate(names)})


@pytest.mark.parametrize(
    ("language", "type", "forms"),
    [
        ("ru", PERSON, "Путин Путина Путину Путиным Путине"),
        ("ru", PERSON, "Лавров Лаврова Лаврову Лавровым"),
        ("ru", PERSON, "Шойгу"),
        ("ru", PERSON, "Меркель"),
        ("ru", PERSON, "Набиуллина Набиуллиной Набиуллину"),
        ("ru", PERSON, "Зеленский Зеленского Зеленскому Зеленским"),
        ("ru", PLACE, "Россия России Россию Россией"),
        ("ru", PLACE, "Москва Москвы Москве Москву Москвой"),
        ("ru", PLACE, "Казань Казани Казанью"),
        ("uk", PERSON, "Зеленський Зеленського Зеленському Зеленським"),
        ("uk", PERSON, "Кличко Кличка Кличку"),
        ("uk", PLACE, "Київ Києва Києву Києві"),
        ("uk", PLACE, "Україна України Україні Україну Україною"),
        ("pl", PERSON, "Tusk Tuska Tuskowi Tuskiem Tusku"),
        ("pl", PERSON, "Duda Dudy Dudzie Dudę Dudą"),
        ("pl", PERSON, "Kaczyński Kaczyńskiego Kaczyńskiemu Kaczyńskim"),
        ("pl", PERSON, "Nowacka Nowackiej Nowacką"),
        ("pl", PLACE, "Kraków Krakowa Krakowie Krakowem"),
        ("pl", PLACE, "Polska Polski Polsce Polskę"),
        ("cs", PERSON, "Babiš Babiše Babišovi Babišem"),
        ("cs", PERSON, "Zeman Zemana Zemanovi Zemanem"),
        ("cs", PERSON, "Pekarová Pekarové Pekarovou"),
        ("cs", PLACE, "Praha Prahy Praze Prahu Prahou"),
        ("cs", PLACE, "Brno Brna Brnu Brně"),
        ("tr", PERSON, "Erdoğan Erdoğan'ın Erdoğan'a Erdoğan'dan"),
        ("tr", PLACE, "Ankara Ankara'da Ankara'ya Ankara'nın"),
    ],
)
def test_the_forms_of_a_name_are_the_name(language: str, type: str, forms: str) -> None:
    first, *others = dict.fromkeys(map(name_key, forms.split()))
    assert find(language, *forms.split(), type=type) == ({first: others} if others else {})


def test_the_words_of_a_name_decline_together() -> None:
    assert find("pl", "Donald Tusk", "Donalda Tuska", "Donaldowi Tuskowi") == {
        "donald tusk": ["donalda tuska", "donaldowi tuskowi"]
    }
    assert find("ru", "Владимир Путин", "Владимиром Путиным", "Людмила Путина") == {
        "владимир путин": ["владимиром путиным"]
    }


def test_without_the_usual_form_the_forms_of_a_name_are_joined_to_each_other() -> None:
    assert find("pl", "Morawieckiego", "Morawieckiemu", "Hołowni") == {"morawieckiego": ["morawieckiemu"]}


def test_a_name_that_has_forms_of_its_own_is_no_form_of_another() -> None:
    assert find("ru", "Путин", "Путина", "Путиной") == {"путина": ["путиной"]}


def test_a_frequent_name_of_one_word_is_no_form_of_a_rare_person() -> None:
    assert find_declined("ru", {"иванов": {PERSON: 4}, "иванова": {PERSON: 9}}) == {}
    assert find_declined("ru", {"россия": {PLACE: 4}, "россии": {PLACE: 9}}) == {"россия": ["россии"]}


def test_forms_of_another_type_are_not_joined() -> None:
    assert find_declined("pl", {"tusk": {PERSON: 9}, "tuska": {PLACE: 3}}) == {}


def test_each_table_has_its_own_endings() -> None:
    assert sorted(declining_languages()) == ["cs", "pl", "ru", "tr", "uk"]
    for table in read_tables()["declensions"].values():
        for usual, endings in table.items():
            assert len({*endings.split()} - {usual}) == len(endings.split()), (usual, endings)


@pytest.mark.parametrize("engine", ENGINES)
def test_declined_forms_are_one_name_in_documents_of_their_language_alone(
    engine: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    request.param = engine
    names = {
        "a": ("pl-PL", [("Donald Tusk", PERSON)]),
        "b": ("pl", [("Donalda Tuska", PERSON), ("Paula Kim", PERSON)]),
        "c": ("en", [("Paul Kim", PERSON), ("Carl Sand", PERSON)]),
        "d": ("en", [("Carla Sanda", PERSON)]),
        "e": ("ru", [("Путин", PERSON)]),
        "f": ("ru", [("Путиным", PERSON)]),
    }
    texts = [document(id, id, language=language) for id, (language, _) in names.items()]
    with open_loaded(request, tmp_path, texts, analyzer="multilingual") as searcher:
        enrich(searcher, {id: [of_document] for id, (_, of_document) in names.items()})
        update(searcher)
        with open_searcher(searcher.index.where) as reopened:
            wanted = ["donalda tuska", "paula kim", "carla sanda", "путиным"]
            found = reopened.index.vocabulary(Names(wanted))
            assert [(name.form, name.sentences) for name in found.values()] == [
                ("Donald Tusk", 2),
                ("Paula Kim", 1),
                ("Carla Sanda", 1),
                ("Путин", 2),
            ]
