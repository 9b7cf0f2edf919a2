"""Speakers in Russian news: nouns, words between a verb and its speaker, words of others, and marks."""

from __future__ import annotations

import pytest

from tests.support.found_quotes import find_in_text

BRIDGE = "«Мост будет закрыт на зиму»"


def speakers(text: str) -> list[str | None]:
    """The speaker of each quotation of three words or more."""
    return [quote.speaker for quoted, quote in find_in_text(text, "ru") if len(quoted.split()) > 2]


@pytest.mark.parametrize(
    ("text", "speaker"),
    [
        (f"{BRIDGE}, — отвечает игрок.", "игрок"),
        (f"{BRIDGE}, — рассказывает его дочь.", "дочь"),
        (f"{BRIDGE}, — посетовала пенсионерка из Перми.", "пенсионерка"),
        (f"{BRIDGE}, — сообщает веб-сайт Lenta.", "веб-сайт Lenta"),
        (f"Эксперт, побывавшая там в июле, назвала план иначе: {BRIDGE}.", "Эксперт"),
        (f"Один из лейбористов, выражая мнение партии, заявил: {BRIDGE}.", "Один из лейбористов"),
        (f"Вместо этого министр вышел к людям, ждавшим его, и добавил: {BRIDGE}.", "министр"),
        (f"В субботу президент США сказал: {BRIDGE}.", "президент США"),
        (f"Человек: {BRIDGE}.", "Человек"),
    ],
)
def test_a_russian_speaker_may_be_a_noun_without_a_name(text: str, speaker: str) -> None:
    assert speakers(text) == [speaker]


@pytest.mark.parametrize(
    ("text", "speaker"),
    [
        (f"{BRIDGE}, — сказала в пятницу Карин Жан-Пьер, советник группы.", "Карин Жан-Пьер"),
        (f"{BRIDGE}, — сообщили в пресс-службе «Яндекса».", "пресс-службе"),
        (f"{BRIDGE}, — так говорит он о своем плане.", "он"),
        (f"{BRIDGE}, — сообщает в своем коммюнике Комитет Красного Креста.", "Комитет Красного Креста"),
        (f"{BRIDGE}, — заявил в субботу журналистам мэр Яков Кац.", "мэр Яков Кац"),
        (f"Премьер Анна Белова в пятницу заявила: {BRIDGE}.", "Премьер Анна Белова"),
        (f"Ранее в этом году Ханс Барт, глава комитета, признал: {BRIDGE}.", "Ханс Барт"),
        (f"Яков Кац из компании CGA, которая построила мост, говорит: {BRIDGE}.", "Яков Кац из компании CGA"),
    ],
)
def test_words_between_a_russian_verb_and_its_speaker_are_skipped(text: str, speaker: str) -> None:
    assert speakers(text) == [speaker]


@pytest.mark.parametrize("name", ["Риком Перри", "Ивана Зеленского", "Анны Беловой", "Марии Беловой"])
def test_a_russian_name_in_an_oblique_case_does_not_speak(name: str) -> None:
    assert speakers(f"{BRIDGE}, — сообщили после встречи с людьми {name}.") == [None]


def test_who_is_met_is_not_the_russian_speaker() -> None:
    text = f"{BRIDGE}, — заявил министр энергетики Яков Кац после встречи с министром Риком Перри."
    assert speakers(text) == ["министр энергетики Яков Кац"]


@pytest.mark.parametrize(
    ("text", "speaker"),
    [
        ("По словам прокуроров, план был «плохим и очень опасным».", "прокуроров"),
        ("Такой план, по его словам, «был плохим и очень опасным».", "его"),
        ("По мнению Каца, план «был плохим и очень опасным».", "Каца"),
        ("Согласно «Лондонской газете» от мая, он шел «в очень густом тумане».", "Лондонской газете"),
        ("В уведомлении о собрании в пятницу говорилось, что «мы хотим видеть всех».", "уведомлении"),
        (f"В заявлении министерства говорится: {BRIDGE}.", "заявлении министерства"),
        (f"{BRIDGE}, — говорится в заявлении компании.", "заявлении компании"),
        ("Он также признал ошибку, заявив, что он «покончил с этим мостом».", "Он"),
        (
            "Альбомы, которые музыкант Том Робинсон описывает как «возвращение к форме».",
            "музыкант Том Робинсон",
        ),
    ],
)
def test_a_russian_part_of_a_clause_has_a_speaker_of_any_case(text: str, speaker: str) -> None:
    assert speakers(text) == [speaker]


@pytest.mark.parametrize(
    ("text", "speaker"),
    [
        (f"{BRIDGE}, — пишет «Коммерсантъ» со ссылкой на источники.", "Коммерсантъ"),
        (f"{BRIDGE}, — рассказала «Известиям» директор по рекламе Анна Белова.", "Анна Белова"),
        (f"{BRIDGE}, — сказал представитель «Газпрома» Яков Кац.", "Яков Кац"),
        (f"{BRIDGE}, — заявил журналистам тренер «Манчестер Сити», Пеп Гвардиола.", "Пеп Гвардиола"),
        (f"{BRIDGE}, — заявила в интервью телеканалу «Россия» мэр Анна Белова.", "мэр Анна Белова"),
    ],
)
def test_a_russian_name_in_marks_speaks_or_is_behind_the_office(text: str, speaker: str) -> None:
    assert speakers(text) == [speaker]


def test_a_russian_verb_after_a_dash_is_no_part_of_a_name() -> None:
    assert speakers("«Мост будет закрыт на зиму!» — рассказал Яков Кац.") == ["Яков Кац"]


def test_a_list_of_russian_titles_in_marks_quotes_nobody() -> None:
    assert speakers("Будут «Утро», «Пока все дома», «Человек и закон», «Что где когда», КВН.") == []
