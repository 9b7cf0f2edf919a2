"""Where Italian and Portuguese news name the speaker of a quotation."""

from __future__ import annotations

import pytest

from tests.support.found_quotes import find_in_text


def speakers_in(text: str, language: str) -> list[str | None]:
    return [quote.speaker for _, quote in find_in_text(text, language)]


@pytest.mark.parametrize(
    ("language", "text", "speaker"),
    [
        ("pt", "«A obra custa muito», disse o presidente da Câmara de Faro, Rui Lopes.", "Rui Lopes"),
        ("pt", "«A obra custa muito», disse o vereador do ambiente, o socialista Rui Lopes.", "Rui Lopes"),
        ("pt", "«A obra custa muito», afirma o consultor de imagem pessoal Rui Lopes.", "Rui Lopes"),
        ("it", "«I lavori costano troppo», ha ricordato ieri il segretario dei popolari Verdi.", "Verdi"),
        (
            "it",
            "Lapidario il commento del presidente della corte, Carlo Verdi: «I lavori costano troppo».",
            "Carlo Verdi",
        ),
    ],
)
def test_a_name_behind_an_office_is_the_speaker(language: str, text: str, speaker: str) -> None:
    assert speakers_in(text, language) == [speaker]


@pytest.mark.parametrize(
    ("language", "text", "speaker"),
    [
        ("pt", "«A obra custa muito», disse o presidente da Câmara.", "o presidente"),
        ("pt", "«A obra custa muito», disse o vereador, que visitou o Porto com Ana Costa.", "o vereador"),
        ("pt", "A ministra Ana Costa (PSD - PA) afirmou que «a obra custa muito».", "A ministra Ana Costa"),
    ],
)
def test_an_office_without_a_name_keeps_its_words(language: str, text: str, speaker: str) -> None:
    assert speakers_in(text, language) == [speaker]


@pytest.mark.parametrize(
    ("language", "text", "speaker"),
    [
        ("pt", "«A obra custa muito», disse à Reuters Ana Costa.", "Ana Costa"),
        ("pt", "«A obra custa muito», contou ontem à agência Lusa o novo presidente.", "o novo presidente"),
        ("it", "«I lavori costano troppo», ha detto al Corriere Anna Verdi.", "Anna Verdi"),
        ("it", "«I lavori costano troppo», dice con un sorriso Anna Verdi.", "Anna Verdi"),
    ],
)
def test_the_one_whom_a_speaker_tells_is_passed_over(language: str, text: str, speaker: str) -> None:
    assert speakers_in(text, language) == [speaker]


@pytest.mark.parametrize(
    ("language", "text", "speaker"),
    [
        (
            "it",
            "La legge, rileva ancora il presidente, «provocherà un grave ritardo dei processi».",
            "il presidente",
        ),
        (
            "it",
            "La legge, ha rilevato il presidente della regione, crea «un grave ritardo».",
            "il presidente",
        ),
        (
            "pt",
            "Muitos aspectos da lei das autarquias, sustentou Ana Costa, «são um obstáculo para todos».",
            "Ana Costa",
        ),
        (
            "pt",
            "Pedem sumos e falam dos ricos que, como diz Ana Costa, são «cheios de querer ser».",
            "Ana Costa",
        ),
        (
            "it",
            "Come recita la sentenza della federazione, per la squalifica «è sufficiente un controllo».",
            "la sentenza",
        ),
        (
            "it",
            "Secondo quanto riferito alla stampa da Anna Verdi, «l'impianto è stato danneggiato».",
            "Anna Verdi",
        ),
        ("it", "Inoltre - prosegue la circolare - «le gite potrebbero essere rinviate».", "la circolare"),
    ],
)
def test_an_inserted_verb_has_its_speaker_behind_it(language: str, text: str, speaker: str) -> None:
    assert speakers_in(text, language) == [speaker]


@pytest.mark.parametrize(
    ("language", "text", "speaker"),
    [
        ("it", "Verdi: «I lavori costano troppo per noi»", "Verdi"),
        ("it", "Il Cremlino: l'attacco al porto è «un atto davvero mostruoso»", "Il Cremlino"),
        ("it", "La neuroscienziata: «La scuola fa paura a molti bambini»", "La neuroscienziata"),
        ("it", "La replica del Cremlino a Kiev: «I lavori costano troppo per noi»", "Cremlino"),
        ("pt", "A resposta do Governo é que a obra «não custa nada a ninguém».", "Governo"),
    ],
)
def test_a_headline_names_its_speaker_before_a_colon(language: str, text: str, speaker: str) -> None:
    assert speakers_in(text, language) == [speaker]


@pytest.mark.parametrize(
    ("language", "text", "speaker"),
    [
        ("it", "«I lavori costano troppo», ribolle Anna Verdi.", "Anna Verdi"),
        ("it", "«I lavori costano troppo», così la titolare.", "la titolare"),
        ("it", "«I lavori costano troppo - ribolle Verdi - e durano anni».", "Verdi"),
        ("pt", "«A obra custa muito», cantarola um assistente.", "um assistente"),
        ("pt", "Reconhecendo que «a obra custa muito», Costa acha que deve haver uma pausa.", "Costa"),
        ("pt", "«A obra custa muito», disse o então deputado Rui Lopes.", "o então deputado Rui Lopes"),
        ("it", "«I lavori costano troppo», si legge nella nota.", "nota"),
        ("it", "In una nota si legge: «I lavori costano troppo».", "una nota"),
        ("it", "I lavori, si legge ancora nella nota, «costano troppo per tutti noi».", "nota"),
        (
            "it",
            "Parla anche con il ministro Carlo Verdi che ha detto: «I lavori costano troppo».",
            "il ministro Carlo Verdi",
        ),
        ("pt", "Para ela, «a obra custa muito».", "ela"),
    ],
)
def test_other_words_that_lead_to_a_speaker(language: str, text: str, speaker: str) -> None:
    assert speakers_in(text, language) == [speaker]


def test_small_words_within_a_name_are_part_of_it() -> None:
    found = find_in_text("«A obra custa muito», diz Antonio Carlos Gomes da Silva, chefe do hospital.", "pt")
    assert [(quote.speaker, quote.name) for _, quote in found] == [
        ("Antonio Carlos Gomes da Silva", "antonio carlos gomes da silva")
    ]


def test_a_party_behind_a_name_is_no_part_of_it() -> None:
    assert speakers_in("«A obra custa muito», diz Ana Costa do PSD.", "pt") == ["Ana Costa"]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("it", "«Una scommessa per i ragazzi», di Elena Verdi."),
        ("it", "Ecco il progetto di legge «Diritto alla Riparazione» del comune."),
        ("pt", "«Menina na Varanda», de Ana Costa, está no museu."),
    ],
)
def test_a_title_is_no_quotation(language: str, text: str) -> None:
    assert find_in_text(text, language) == []


@pytest.mark.parametrize(
    ("text", "speaker"),
    [
        ("Il piano è stato definito da Anna Verdi «un insulto a tutti noi».", "Anna Verdi"),
        (
            "Una visita bollata come «un insulto a tutti noi» da Anna Verdi, portavoce del partito.",
            "Anna Verdi",
        ),
        ("Il governo è accusato dagli utenti di avere «un conto aperto con noi».", "utenti"),
        ("Ecco il messaggio dedicato a Carlo Neri da Anna Verdi: «I lavori costano troppo».", "Anna Verdi"),
        ("Lo slogan «i lavori costano troppo» gridato da Anna Verdi, piace a tutti.", "Anna Verdi"),
        (
            "Come riportato alla stampa, Anna Verdi ha definito la legge «un insulto a tutti noi».",
            "Anna Verdi",
        ),
        ("Anna Verdi l'ha definita «un insulto a tutti noi».", "Anna Verdi"),
    ],
)
def test_the_agent_of_a_passive_is_the_speaker(text: str, speaker: str) -> None:
    assert speakers_in(text, "it") == [speaker]


@pytest.mark.parametrize(
    ("text", "speaker"),
    [
        ("È stata Anna Verdi ad affermare che i lavori «costano troppo per tutti».", "Anna Verdi"),
        (
            "Ieri c'era l'addio di Anna Verdi, che lascia il partito, affermando che «costa davvero troppo».",
            "Anna Verdi",
        ),
        (
            "A parlare sono fonti di maggioranza che affermano che «i lavori costano troppo».",
            "fonti di maggioranza",
        ),
        (
            "Il collega della Camera, il popolare Carlo Verdi, ha detto: «I lavori costano troppo».",
            "Carlo Verdi",
        ),
        (
            "Venerdì il ministro della Difesa, Carlo Verdi, ha detto: «I lavori costano troppo».",
            "Carlo Verdi",
        ),
        ("In aula Verdi ha detto la sua su Anna Neri, aggiungendo che «i lavori costano troppo».", "Verdi"),
    ],
)
def test_words_between_a_speaker_and_the_verb_are_passed_over(text: str, speaker: str) -> None:
    assert speakers_in(text, "it") == [speaker]


@pytest.mark.parametrize(
    ("text", "speaker"),
    [
        ("«I lavori costano troppo». Lo ha detto Anna Verdi.", "Anna Verdi"),
        ("«I lavori costano troppo»: è quanto afferma Anna Verdi.", "Anna Verdi"),
        ("«I lavori costano troppo», è la tesi di Anna Verdi.", "Anna Verdi"),
        ("«I lavori costano troppo», secondo quanto riportato da Anna Verdi.", "Anna Verdi"),
        ("«I lavori costano troppo», a meno che non piova, ha scritto Verdi.", "Verdi"),
        (
            "I lavori «costano troppo per tutti» ogni anno, ha detto il ministro Carlo Verdi.",
            "il ministro Carlo Verdi",
        ),
        ("«I lavori costano troppo», ha gridato alla folla Anna Verdi.", "Anna Verdi"),
        ("«I lavori costano troppo», racconta al quotidiano la madre.", "la madre"),
    ],
)
def test_a_speaker_may_be_far_behind_the_quotation(text: str, speaker: str) -> None:
    assert speakers_in(text, "it") == [speaker]


def test_what_secondo_cui_begins_names_nobody() -> None:
    text = "Verdi ha respinto la voce secondo cui il porto chiude: «Il porto resta aperto per tutti»."
    assert speakers_in(text, "it") == ["Verdi"]


def test_the_second_of_two_joined_quotations_has_the_speaker_of_the_first() -> None:
    text = "La Società Verdi ha definito la legge una «follia» e un «tentativo di fermare tutti»."
    assert speakers_in(text, "it") == ["La Società Verdi"]


def test_an_agency_behind_the_quotation_does_not_speak_for_somebody_with_a_verb() -> None:
    text = (
        "Anna Verdi ha detto che i nuovi lavori nel centro «costano troppo per tutti noi», secondo Reuters."
    )
    assert speakers_in(text, "it") == ["Anna Verdi"]


@pytest.mark.parametrize(
    ("text", "speaker"),
    [
        ("Verdi lo ripete spesso: «Tutto è ormai perduto per noi».", "Verdi"),
        ("Comitato dei lavori: «Il porto resta chiuso per un anno».", "Comitato"),
        ("Conclusione: «Il porto resta chiuso per un anno».", None),
    ],
)
def test_the_first_word_of_a_sentence_speaks_if_it_is_a_subject(text: str, speaker: str | None) -> None:
    assert speakers_in(text, "it") == [speaker]
