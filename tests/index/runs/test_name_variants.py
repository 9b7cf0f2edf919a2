"""Names in other spellings and scripts, joined across a collection, and titles in several languages."""

from __future__ import annotations

from pathlib import Path

import pytest

from esr.index.names import name_key, resolve_names, short_key
from esr.index.questions import Names
from esr.index.runs.name_variants import add_variants, find_variants
from esr.ranking.searcher import open_searcher
from tests.index.test_names import enrich, update
from tests.support.elasticsearch import document
from tests.support.index_contents import ENGINES, open_loaded

PERSON, PLACE, BODY = "person", "location", "organization"
SCRIPTS = {
    "Vladimir Putin": ("Владимир Путин", "فلاديمير بوتين"),
    "Angela Merkel": ("Ангела Меркель", "أنجيلا ميركل"),
    "Donald Trump": ("Дональд Трамп", "دونالد ترامب"),
    "Emmanuel Macron": ("Эмманюэль Макрон", "إيمانويل ماكرون"),
    "Sergey Lavrov": ("Сергей Лавров", "سيرغي لافروف"),
}


def count(*names: str, type: str = PERSON) -> dict[str, dict[str, int]]:
    """These names by key, the first in most documents."""
    return {name_key(name): {type: 100 - n} for n, name in enumerate(names)}


def test_a_hyphen_makes_no_other_name() -> None:
    assert find_variants(count("Kim Jong Un", "Kim Jong-un")) == {"kim jong un": ["kim jong-un"]}
    assert find_variants(count("Kim Jong Un", "Kim Jong Il", "Jean-Luc", "Jean Luc Godard")) == {}
    two = {"saint-denis": {PLACE: 9}, "saint denis": {PERSON: 3}}
    assert find_variants(two) == {}, "a place and a person are two"


def test_a_country_has_its_short_names() -> None:
    places = count("United States", "US", "USA", "U.S.A.", "UK", "Mexico", type=PLACE)
    assert find_variants(places) == {"united states": ["us", "usa"]}
    assert find_variants({"united states": {PLACE: 5}, "us": {BODY: 9}}) == {}, "here, US is something else"


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_name_in_another_script_is_joined_to_the_one_in_latin_letters(name: str) -> None:
    names = [written for latin, others in SCRIPTS.items() for written in (latin, *others)]
    found = find_variants(count(*names))
    assert set(found[name_key(name)]) == set(map(name_key, SCRIPTS[name]))


def test_names_of_different_people_are_not_joined_across_scripts() -> None:
    others = count("Vladimir Putin", "Владимир Потанин", "Путин", "Виталий Путин", "Joe Biden", "جو بايدن")
    assert find_variants(others) == {}
    two = count("Vladimir Putin", "Velodemar Pateno", "Владимир Путин")
    assert find_variants(two) == {}, "two names in Latin letters sound like it"


def test_a_variant_brings_its_short_forms_along() -> None:
    joined = {"kim jong-un": ["kim"], "michael flynn": ["flynn"]}
    variants = {"kim jong un": ["kim jong-un"], "flynn": ["x"]}
    assert add_variants(joined, variants) == {
        "kim jong un": ["kim jong-un", "kim"],
        "michael flynn": ["flynn", "x"],
    }


@pytest.mark.parametrize("order", [1, -1])
def test_a_variant_that_has_variants_is_no_name_of_its_own(order: int) -> None:
    variants = {"srdi": ["srdiho", "srdim"], "srdim": ["srdimu"]}
    merged = add_variants({}, dict([*variants.items()][::order]))
    assert {name: sorted(forms) for name, forms in merged.items()} == {"srdi": ["srdiho", "srdim", "srdimu"]}


@pytest.mark.parametrize(
    ("short", "full"),
    [
        ("Frau Merkel", "Angela Merkel"),
        ("Bundeskanzlerin Merkel", "Angela Merkel"),
        ("el señor Sánchez", "Pedro Sánchez"),
        ("señor Sánchez", "Pedro Sánchez"),
        ("Mme Le Pen", "Marine Le Pen"),
        ("Господин Лавров", "Сергей Лавров"),
        ("الرئيس السيسي", "عبد الفتاح السيسي"),
        ("Sayın Erdoğan", "Recep Tayyip Erdoğan"),
    ],
)
def test_titles_are_no_part_of_a_name(short: str, full: str) -> None:
    resolved = resolve_names([{PERSON: (full,)}, {PERSON: (short,)}])
    assert short.startswith("el ") or resolved[short].key == name_key(full)


def test_words_that_are_also_names_are_no_titles() -> None:
    assert [short_key(name_key(name)) for name in ("Bay Area", "Pan Am", "Don Johnson")] == [
        "bay area",
        "pan am",
        "don johnson",
    ]


@pytest.mark.parametrize("engine", ENGINES)
def test_variants_are_one_name_on_both_engines(
    engine: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    request.param = engine
    names = {
        "a": [[("Vladimir Putin", PERSON), ("US", PLACE)]],
        "b": [[("Владимир Путин", PERSON), ("United States", PLACE)]],
        "c": [[("Vladimir Putin", PERSON), ("United States", PLACE)]],
    }
    with open_loaded(request, tmp_path, [document(id, id) for id in names]) as searcher:
        enrich(searcher, names)
        update(searcher)
        with open_searcher(searcher.index.where) as reopened:
            found = reopened.index.vocabulary(Names(["владимир путин", "us"]))
            assert [(name.form, name.sentences) for name in found.values()] == [
                ("Vladimir Putin", 3),
                ("United States", 3),
            ]
