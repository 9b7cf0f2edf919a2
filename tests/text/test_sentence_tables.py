"""The tables of abbreviations."""

import tomllib
from collections import Counter
from dataclasses import fields
from importlib.resources import files

import pytest

from esr.text.sentences import _CODES, _NAMES, THAI_LANGUAGES, UNSPACED_LANGUAGES
from esr.text.spaced_scripts import Rules, load_rules

TABLES = {
    path.name.removesuffix(".toml"): tomllib.loads(path.read_text("utf-8"))
    for path in (files("esr.text") / "sentence_tables").iterdir()
}
ABBREVIATIONS = ("titles", "before_number", "inside", "either", "final", "units")


def test_every_language_with_blanks_has_a_table_and_every_table_a_language():
    assert set(TABLES) == set(_NAMES) - UNSPACED_LANGUAGES - THAI_LANGUAGES


def test_no_name_means_two_languages():
    names = [name for code, names in _NAMES.items() for name in (code, *names.split())]
    assert len(names) == len(set(names)) == len(_CODES)


@pytest.mark.parametrize("code", TABLES)
def test_a_table_has_lists_that_the_rules_know(code):
    assert set(TABLES[code]) <= {field.name for field in fields(Rules)} - {"abbreviations"}
    load_rules(code)


@pytest.mark.parametrize("code", TABLES)
def test_abbreviations_come_without_their_full_stop_and_once_in_a_list(code):
    for name in ABBREVIATIONS:
        words = TABLES[code].get(name, "").split()
        assert not [word for word in words if word.endswith(".")]
        assert not [word for word, count in Counter(words).items() if count > 1], name


@pytest.mark.parametrize("code", TABLES)
def test_no_abbreviation_is_in_two_lists_that_contradict_one_another(code):
    lists = {
        name: set(TABLES[code].get(name, "").split()) for name in ("titles", "inside", "either", "final")
    }
    for name, words in lists.items():
        for other, others in lists.items():
            assert name == other or not words & others, f"{name}, {other}"


@pytest.mark.parametrize("code", TABLES)
def test_openers_begin_sentences_and_are_in_small_letters(code):
    table = TABLES[code]
    for name in ("starters", "openers", "speech", "ordinal_after", "ordinal_before"):
        assert table.get(name, "") == table.get(name, "").lower()


def test_the_case_of_an_abbreviation_counts_where_it_has_a_capital():
    rules = load_rules("en")
    assert {"Mr", "MR", "vs", "Vs", "VS"} <= rules.abbreviations
    assert not {"mr", "sat", "no"} & rules.titles
