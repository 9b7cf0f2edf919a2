"""Quotations that are a part of a clause, and speakers without names, in languages other than English."""

from __future__ import annotations

import re

import pytest

from esr.enrichment.quotations.word_lists import verb_pattern
from tests.support.found_quotes import find_in_text

Found = tuple[str, str | None]


def quotes_in(text: str, language: str) -> list[Found]:
    """The text and the speaker of each quotation."""
    return [(quoted, quote.speaker) for quoted, quote in find_in_text(text, language)]


@pytest.mark.parametrize(
    ("language", "text", "quotation", "speaker"),
    [
        (
            "es",
            "La ministra Ana López dijo ayer que el plan, que empieza ya, es «una gran suerte» para todos.",
            "«una gran suerte»",
            "La ministra Ana López",
        ),
        (
            "pl",
            "Minister Jan Lis powiedział wczoraj, że plan, który rusza, jest „wielką szansą dla nas”.",
            "„wielką szansą dla nas”",
            "Minister Jan Lis",
        ),
        (
            "it",
            "Anna Bianchi ha detto ieri che il piano, che comincia ora, è «una bella fortuna» per tutti.",
            "«una bella fortuna»",
            "Anna Bianchi",
        ),
        (
            "pt",
            "Ana Lopes disse ontem que o plano, que começa em maio, é «uma grande sorte» para todos.",
            "«uma grande sorte»",
            "Ana Lopes",
        ),
        (
            "fr",
            "Marie Dupont a déclaré hier qu’un tel projet, qui commence, est « une belle chance » pour tous.",
            "« une belle chance »",
            "Marie Dupont",
        ),
        (
            "ru",
            "Анна Попова сказала, что этот план, который начнётся в мае, будет «большой удачей для всех».",
            "«большой удачей для всех»",
            "Анна Попова",
        ),
    ],
)
def test_a_part_of_a_reported_clause_is_a_quotation(
    language: str, text: str, quotation: str, speaker: str
) -> None:
    assert quotes_in(text, language) == [(quotation, speaker)]


def test_a_verb_after_the_place_of_a_report_is_preferred_to_it() -> None:
    text = "Según la agencia, Ana López precisó que «el puente está cerrado» desde mayo."
    assert quotes_in(text, "es") == [("«el puente está cerrado»", "Ana López")]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("es", "Ana López dijo que había leído el libro de Luis Mora «El mar sin orillas» en mayo."),
        ("es", "Ana López comentó la novela «El mar sin orillas» en mayo."),
        ("pl", "Jan Lis komentował film „Morze bez końca świata” w maju."),
        ("it", "Carlo Neri commentava il romanzo «Il mare senza rive» a maggio."),
        ("pt", "Rui Costa comentou o livro «O mar sem margens» em maio."),
        ("fr", "Paul Petit commentait le roman « La mer sans rives » en mai."),
    ],
)
def test_a_word_for_works_before_the_mark_leads_to_a_title(language: str, text: str) -> None:
    assert quotes_in(text, language) == []


@pytest.mark.parametrize(
    ("language", "text", "quotation"),
    [
        ("es", "El acuerdo nació de «una idea muy simple y barata» de dos vecinos.", True),
        ("es", "El acuerdo tiene «letra muy pequeña» en dos páginas.", False),
        ("es", "El acuerdo («pacto de amigos de toda una vida larga») tiene dos páginas.", True),
        ("es", "El acuerdo («pacto de amigos de siempre») tiene dos páginas.", False),
        ("es", "El acuerdo entre «Amigos del mar y de la montaña de Soria» y el pueblo vale.", False),
        ("pl", "Umowa powstała z „bardzo prostego i taniego pomysłu” dwóch sąsiadów.", True),
        ("pl", "Umowa ma „bardzo małe litery” na dwóch stronach.", False),
    ],
)
def test_what_marks_only_set_off_is_short_or_has_a_capital(language: str, text: str, quotation: bool) -> None:
    assert bool(quotes_in(text, language)) == quotation


@pytest.mark.parametrize(
    ("language", "text", "speaker"),
    [
        ("es", "Finalmente, en mayo y sin papeles, afirmó: «No hay agua en el pueblo».", None),
        ("es", "Exhortó a los vecinos a esperar y afirmó: «No hay agua en el pueblo».", None),
        ("es", "Según la denuncia, en el pueblo «no hay nada de agua».", "la denuncia"),
        ("es", "«No hay agua», sentenciaba el alcalde.", "el alcalde"),
        ("es", "«No hay agua», bramó el alcalde.", "el alcalde"),
        ("es", "El decano usó la visita para pedir más dinero al pueblo: «No hay agua».", "El decano"),
        ("es", "Para el alcalde, «no hay nada de agua en el pueblo».", "el alcalde"),
        ("es", "Para la próxima semana, «no hay nada de agua en el pueblo».", None),
        ("pt", "«Não há água», disse-nos o homem do campo.", "o homem"),
        ("it", "Secondo l'associazione, «bisogna leggere tutte le pagine».", "l'associazione"),
        ("it", "Per il ministro, «non c'è niente da leggere in paese».", "il ministro"),
        ("fr", "Pour le maire, « il n’y a rien à lire au village ».", "le maire"),
    ],
)
def test_speakers_need_no_name_and_first_words_do_not_speak(
    language: str, text: str, speaker: str | None
) -> None:
    assert [quote[1] for quote in quotes_in(text, language)] == [speaker]


@pytest.mark.parametrize(
    ("text", "speaker"),
    [
        ("„To nie jest nasz most” – wypalił Jan Lis.", "Jan Lis"),
        ("„To nie jest nasz most” – z lekkim uśmiechem przyznał burmistrz Jan Lis.", "burmistrz Jan Lis"),
        ("„To nie jest nasz most” – powiedział na koniec spotkania poseł Jan Lis.", "poseł Jan Lis"),
        ("Wtedy bileter oznajmił: „To nie jest nasz most”.", "bileter"),
        (
            "Jan Lis nie przyszedł, a sprawę mostu w Radomiu ocenił krótko: „To nie jest nasz most”.",
            "Jan Lis",
        ),
        ("Pamiętam słowa ojca: „To nie jest nasz most”.", "ojca"),
        ("Znany pisarz Jan Lis odpowiedział: „To nie jest nasz most”.", "Znany pisarz Jan Lis"),
        ("Przyszedł też Jan Lis, który, po latach, powiedział: „To nie jest nasz most”.", "Jan Lis"),
        ("Powtarzała mieszkańcom Radomia: „To nie jest nasz most”.", None),
    ],
)
def test_polish_speakers_are_nominatives_without_articles(text: str, speaker: str | None) -> None:
    assert [quote[1] for quote in quotes_in(text, "pl")] == [speaker]


def test_english_says_none_of_this_in_its_table() -> None:
    assert (
        quotes_in("Ann Lee said that the plan for May is good, and was “a real bit of luck” for us.", "en")
        == []
    )
    assert quotes_in("The deal was born of “a very cheap and simple idea” of two neighbours.", "en") == []


@pytest.mark.parametrize(
    ("text", "verb"),
    [
        ("ayer dijo algo", "dijo"),
        ("ayer dijeron algo", "dijeron"),
        ("nada al decir algo", "al decir"),
        ("al revés", "al"),
        ("Dijo algo", "Dijo"),
        ("desdijo algo", None),
        ("ayer dijole", None),
        ("ayer Dijo", None),
    ],
)
def test_the_pattern_of_verbs_takes_whole_words_and_the_longest(text: str, verb: str | None) -> None:
    match = verb_pattern("dijo dijeron al al_decir").search(text)
    assert (match[0] if match else None) == verb
    assert re.fullmatch(verb_pattern(""), "x") is None
