"""Speakers in French and Polish news: offices, joined pronouns, names in marks, and parts of clauses."""

from __future__ import annotations

import pytest

from tests.support.found_quotes import find_in_text


def speakers(text: str, language: str) -> list[tuple[str, str | None]]:
    """The beginning and the speaker of each quotation."""
    return [
        (quoted.strip('«»„”" \xa0'), quote.speaker)
        for quoted, quote in find_in_text(text, language)
        if len(quoted) > 1
    ]


@pytest.mark.parametrize(
    ("text", "speaker"),
    [
        ("« Le pont sera fermé », a déclaré le ministre de l'Intérieur, Luc Bay, à la presse.", "Luc Bay"),
        ("« Le pont sera fermé », a déclaré le ministre de l'Intérieur Luc Bay.", "Luc Bay"),
        ("« Le pont sera fermé », a déclaré le président de la République Luc Bay.", "Luc Bay"),
        ("« Le pont sera fermé », a déclaré le maire de New York.", "le maire"),
        ("« Le pont sera fermé », a dit sa femme, Lise.", "Lise"),
        ("« Le pont sera fermé », indique une note du directeur de la ville de Lyon.", "une note"),
    ],
)
def test_the_name_of_a_french_speaker_follows_the_office(text: str, speaker: str) -> None:
    assert speakers(text, "fr") == [("Le pont sera fermé", speaker)]


@pytest.mark.parametrize(
    ("text", "speaker"),
    [
        ("« Le pont sera fermé », explique-t-elle.", "elle"),
        ("« Le pont sera fermé », a-t-il ajouté.", "il"),
        ("« Le pont sera fermé », m’explique Luc Bay.", "Luc Bay"),
        ("« Le pont sera fermé », s’exclame Luc Bay.", "Luc Bay"),
        ("« Le pont sera fermé », a de son côté déclaré Luc Bay.", "Luc Bay"),
        ("« Le pont sera fermé », n'a cessé de répéter Luc Bay.", "Luc Bay"),
        ("« Le pont sera fermé », écrit « Le Monde ».", "Le Monde"),
        ("Selon Luc Bay, « le pont sera fermé cet hiver », a-t-il dit.", "Luc Bay"),
    ],
)
def test_french_verbs_are_joined_to_pronouns_and_elided_words(text: str, speaker: str) -> None:
    assert [found[1] for found in speakers(text, "fr")] == [speaker]


@pytest.mark.parametrize(
    ("text", "part", "speaker"),
    [
        ("Selon lui, le plan est « une très grande chance » pour tous.", "une très grande chance", "lui"),
        ("Luc Bay a affirmé : le plan est « une très grande chance ».", "une très grande chance", "Luc Bay"),
        ("Tout en estimant que « le plan est faible », Luc Bay a voté oui.", "le plan est faible", "Luc Bay"),
        ("Luc Bay, expliquait-il, avait mis « le couteau sous la gorge ».", "le couteau sous la gorge", "il"),
        ("Lise a lu « Perle » aux auteurs, qui ont salué « un esprit libre ».", "un esprit libre", "auteurs"),
        (
            "Luc Bay, ancien ministre de la Culture, et proche de Jean Roy, reconnaît « une erreur grave ».",
            "une erreur grave",
            "Luc Bay",
        ),
        (
            "Luc Bay a assuré que la réforme serait «\xa0juste et bien équilibrée\xa0».",
            "juste et bien équilibrée",
            "Luc Bay",
        ),
    ],
)
def test_a_french_part_of_a_clause_has_the_speaker_of_the_clause(text: str, part: str, speaker: str) -> None:
    (found,) = speakers(text, "fr")
    assert found[0] == part
    assert (found[1] or "").startswith(speaker)


def test_a_french_sentence_ends_before_a_closing_mark_with_a_blank() -> None:
    assert speakers("«\xa0Nous ne demandons rien.\xa0»", "fr") == [("Nous ne demandons rien.", None)]


@pytest.mark.parametrize(
    ("text", "speaker"),
    [
        ("„To nie jest nasz most” – pisze „Życie Warszawy”.", "Życie Warszawy"),
        ("„Trybuna” ogłosiła, że „to nie jest nasz most”.", "Trybuna"),
        ("„To nie jest nasz most” – piszą o sobie uczestnicy kursu.", "uczestnicy kursu"),
        ("„To nie jest nasz most” – powiedział rzecznik Ministerstwa Finansów, Jan Lis.", "Jan Lis"),
        ("„To nie jest nasz most” – powiedział mediom szef policji, Jan J. Lis według gazety.", "Jan J. Lis"),
        ("„To nie jest nasz most” – uzasadnił uchwałę burmistrz.", "burmistrz"),
        ("„To nie jest nasz most” – stwierdził w ostatnim artykule Jan Lis, profesor.", "Jan Lis"),
        ("Ministerstwo potwierdziło wczoraj: „To nie jest nasz most”.", "Ministerstwo"),
        ("Profesor przytomnie odparł: „To nie jest nasz most”.", "Profesor"),
        ("Anna Nowak przypomniała, co powiedział ekonomista Jan Lis: „To nie jest nasz most”.", "Jan Lis"),
        ("Most, pisze Jan Lis: „nie jest nasz i nie będzie”.", "Jan Lis"),
        ("Nasz most – stwierdza raport Federacji – „nie jest nasz i nie będzie”.", "raport Federacji"),
        ("Program się nie spodobał, stwierdził on, że jest „szkołą dla młodych złodziei”.", "on"),
        ("Jan Lis w książce „Nasze mosty” (Warszawa 1984) stwierdził: „To nie jest nasz most”.", "Jan Lis"),
        ("Dziennikarz „Życia” zadał pytanie: „Czy to jest nasz most?”", "Dziennikarz"),
        ("Prezes poinformował wczoraj gen. Lisa, że most „nie jest nasz i nie będzie”.", "Prezes"),
    ],
)
def test_polish_speakers_are_newspapers_and_offices_beside_the_verb(text: str, speaker: str) -> None:
    assert speaker in (speakers(text, "pl")[0][1] or "")


@pytest.mark.parametrize("name", ["Jana Lisa", "Annę Nowak", "Jana Kowalskiego", "Panem Lisem"])
def test_a_polish_name_in_an_oblique_case_does_not_speak(name: str) -> None:
    text = f"„To nie jest nasz most” – powiedział po spotkaniu zwolenników {name}."
    assert speakers(text, "pl") == [("To nie jest nasz most", None)]


def test_a_newspaper_that_speaks_is_no_quotation_itself() -> None:
    assert len(speakers("„To nie jest nasz most” – pisze „New York Times”.", "pl")) == 1
