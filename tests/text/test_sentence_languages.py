"""Which rules a text gets."""

import pytest

from esr.text.sentences import _rules_language, find_language, find_script_language, split_sentences

GERMAN = "Er kam am 7. Juli. Sie kam mit."
CHINESE = "他走了。她來了。"


@pytest.mark.parametrize(
    "name", ["de", "DE", "de-AT", "de_CH", "deu", "ger", "German", " german ", "de;q=0.8"]
)
def test_codes_regions_and_names_of_a_language_mean_the_same(name):
    assert find_language(name) == "de"
    assert split_sentences(GERMAN, name) == ["Er kam am 7. Juli.", "Sie kam mit."]


@pytest.mark.parametrize("name", [None, "", "xx", "tlh", "nan", "Deutschland"])
def test_other_names_have_no_rules(name):
    assert find_language(name) is None


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("He left.", None),
        ("Él salió.", None),
        ("", None),
        ("2017", None),
        (CHINESE, "zh"),
        ("彼は帰った。", "ja"),
        ("東京都知事選挙が今日行われた。", "ja"),
        ("ราคา", "th"),
        ("ລາຄາ", "th"),
        ("वह गया।", "hi"),
        ("ذهب.", "ar"),
        ("Он ушёл.", "ru"),
        ("Έφυγε.", "el"),
        ("그는 갔다.", None),
        ("He met Путин and 習近平 in Rome.", None),
    ],
)
def test_the_script_of_most_letters_decides(text, language):
    assert find_script_language(text) == language


@pytest.mark.parametrize(
    ("text", "named", "rules"),
    [
        ("He left.", None, "en"),
        ("He left.", "xx", "en"),
        ("Er ging.", "de", "de"),
        (CHINESE, None, "zh"),
        (CHINESE, "xx", "zh"),
        (CHINESE, "en", "zh"),
        ("ราคา", "en", "th"),
        ("He left.", "zh", "en"),
        ("Он ушёл.", "ja", "ru"),
        ("Он ушёл.", "uk", "uk"),
        ("그는 갔다.", None, "en"),
    ],
)
def test_the_language_named_takes_precedence_but_in_scripts_without_blanks(text, named, rules):
    assert _rules_language(text, named) == rules


def test_full_stops_of_other_scripts_end_sentences_in_any_language():
    assert split_sentences("He left。She came！वह गया। वह آئی؟ Yes.", "en") == [
        "He left。",
        "She came！",
        "वह गया।",
        "वह آئی؟",
        "Yes.",
    ]
