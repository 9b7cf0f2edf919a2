"""Quotations and their speakers, by rules alone: no model is loaded."""

from __future__ import annotations

import re

import pytest

from esr.enrichment.enricher import Enricher
from esr.enrichment.quotations.speakers import Grammar
from esr.text.document import Document, Quote, Sentence
from esr.text.validate import build_document
from tests.support.found_quotes import find_in_document, find_in_text

Found = tuple[str, str | None, str | None]


def quotes_in(text: str, language: str = "en") -> list[Found]:
    """The text, the speaker and the name of each quotation of a text, sentence by sentence."""
    return [(quoted, quote.speaker, quote.name) for quoted, quote in find_in_text(text, language)]


def found_in(document: Document, language: str = "en") -> list[Found]:
    return [(quoted, quote.speaker, quote.name) for quoted, quote in find_in_document(document, language)]


@pytest.mark.parametrize(
    ("text", "quotation", "speaker"),
    [
        ("“We leave,” said Ann Lee.", "“We leave,”", "Ann Lee"),
        ('"We leave now," Ann Lee told reporters.', '"We leave now,"', "Ann Lee"),
        ("Ann Lee, a judge from Ohio, said: “We leave now.”", "“We leave now.”", "Ann Lee"),
        ("In a statement, Ann Lee wrote that “we leave it now”.", "“we leave it now”", "Ann Lee"),
        ("‘I don’t know what we do,’ said Ann Lee.", "‘I don’t know what we do,’", "Ann Lee"),
        (
            "``We leave now,'' the president's spokesman said.",
            "``We leave now,''",
            "the president's spokesman",
        ),
        ("According to Ann Lee, it is “the best of all times”.", "“the best of all times”", "Ann Lee"),
        ("“We leave now,” roared Ann Lee.", "“We leave now,”", "Ann Lee"),
        ("Ann Lee: “We leave now.”", "“We leave now.”", "Ann Lee"),
        ("“What a mess it is!” he said.", "“What a mess it is!”", "he"),
    ],
)
def test_a_verb_beside_a_quotation_names_its_speaker(text: str, quotation: str, speaker: str) -> None:
    assert [found[:2] for found in quotes_in(text)] == [(quotation, speaker)]


@pytest.mark.parametrize(
    ("text", "quotation", "speaker"),
    [
        ("„Wir schaffen das“, sagte Angela Merkel am Montag.", "„Wir schaffen das“", "Angela Merkel"),
        (
            "»Die Lage ist ernst«, so Minister Horst Seehofer.",
            "»Die Lage ist ernst«",
            "Minister Horst Seehofer",
        ),
        ("Der Minister sagte: „Wir brauchen Geduld.“", "„Wir brauchen Geduld.“", "Der Minister"),
        ("Laut Lindner ist das „ein verheerendes Signal“.", "„ein verheerendes Signal“", "Lindner"),
    ],
)
def test_german_has_rules_of_its_own(text: str, quotation: str, speaker: str) -> None:
    assert [found[:2] for found in quotes_in(text, "de")] == [(quotation, speaker)]


@pytest.mark.parametrize(
    ("language", "text", "quotation", "speaker"),
    [
        ("fr", "« Nous partons demain », a déclaré Marie Dupont.", "« Nous partons demain »", "Marie Dupont"),
        ("fr", "Selon Marie Dupont, c’est « la fin du monde ».", "« la fin du monde »", "Marie Dupont"),
        (
            "es",
            "«Nos vamos mañana», dijo la ministra Ana López.",
            "«Nos vamos mañana»",
            "la ministra Ana López",
        ),
        ("es", "Dijo el lunes a la prensa Ana López: «Nos vamos mañana».", "«Nos vamos mañana»", "Ana López"),
        (
            "es",
            "Ana López (de la red, según sus siglas) dijo: «Nos vamos mañana».",
            "«Nos vamos mañana»",
            "Ana López",
        ),
        ("es", "Ana López ha explicado: “Nos vamos mañana”.", "“Nos vamos mañana”", "Ana López"),
        ("pt", "“Vamos embora amanhã”, afirmou João Silva.", "“Vamos embora amanhã”", "João Silva"),
        ("it", "«Partiamo domani sera», ha detto Paolo Rossi.", "«Partiamo domani sera»", "Paolo Rossi"),
        ("nl", "“We gaan morgen weg”, zei Jan de Vries.", "“We gaan morgen weg”", "Jan de Vries"),
        ("nl", "Jan de Vries heeft gezegd: “We gaan weg.”", "“We gaan weg.”", "Jan de Vries"),
        ("pl", "„Jutro stąd wyjeżdżamy” – powiedział Jan Nowak.", "„Jutro stąd wyjeżdżamy”", "Jan Nowak"),
        ("pl", "„Jutro stąd wyjeżdżam” – informował Jan Nowak.", "„Jutro stąd wyjeżdżam”", "Jan Nowak"),
        ("pl", "„Jutro stąd jadę” – napisał w piątek na blogu Jan Nowak.", "„Jutro stąd jadę”", "Jan Nowak"),
        (
            "nl",
            "“We gaan morgen weg”, zei in een verklaring Jan de Vries.",
            "“We gaan morgen weg”",
            "Jan de Vries",
        ),
        ("ru", "«Мы уезжаем завтра», — сказал Иван Петров.", "«Мы уезжаем завтра»", "Иван Петров"),
        ("ru", "Иван Петров сказал: «Мы уезжаем завтра».", "«Мы уезжаем завтра»", "Иван Петров"),
        ("ru", "По словам Ивана Петрова, это «самое лучшее время».", "«самое лучшее время»", "Ивана Петрова"),
        ("tr", "Ali Kaya, dün “Yarın gidiyoruz artık” dedi.", "“Yarın gidiyoruz artık”", "Ali Kaya"),
        ("tr", "“Yarın gidiyoruz artık” diye konuştu Ali Kaya.", "“Yarın gidiyoruz artık”", "Ali Kaya"),
        ("ar", 'قال أحمد علي: "سوف نغادر غدا".', '"سوف نغادر غدا"', "أحمد علي"),
        ("ar", '"سوف نغادر غدا"، قال أحمد علي.', '"سوف نغادر غدا"', "أحمد علي"),
        ("zh", "王小明说：“我们明天离开这里。”", "“我们明天离开这里。”", "王小明"),
        ("zh", "“我们明天离开这里，”王小明表示。", "“我们明天离开这里，”", "王小明"),
    ],
)
def test_other_languages_have_rules_of_their_own(
    language: str, text: str, quotation: str, speaker: str
) -> None:
    assert [found[:2] for found in quotes_in(text, language)] == [(quotation, speaker)]


@pytest.mark.parametrize(
    ("text", "speaker"),
    [
        ("“We leave it now,” the reply to the court says.", "the reply to the court"),
        ("“We leave it now,” a report said.", "a report"),
        ("The report noted that Ohio is “the best of all times”.", "The report"),
        ("“We leave it now,” the Ohio state told reporters.", "the Ohio state"),
        ("Ann Lee said she asked the court, calling it “the best of all times”.", "Ann Lee"),
        ("Ann Lee claimed that it rains, saying “we leave it now”.", "Ann Lee"),
        ("What Bo Day wants is, said Ann Lee, the path to “the best of all times”.", "Ann Lee"),
        ("Bo Day, a judge, said Sunday, “We leave it now.”", "Bo Day"),
        ("Ann Lee steps to the microphone and says, “We leave it now.”", "Ann Lee"),
        ("A spokesman for Ohio declined to comment but said that “we leave it now”.", "A spokesman"),
        ("Ann Lee asked for a photo and Bo Day said, “We leave it now.”", "Bo Day"),
        ("Ann Lee was calm in Ohio and added, “We leave it now.”", "Ann Lee"),
        ("Ann Lee said yesterday that it rains. She later told us: “We leave it now.”", "She"),
        ("'Ann Lee told reporters: “We leave it now.”", "Ann Lee"),
        ("“We leave it now,” said one analyst.", "one analyst"),
        ("“We leave it now,” said the president.", "the president"),
        ("“We leave it now,” said Gen. Ann Lee.", "Gen. Ann Lee"),
        ("On Sunday Ann Lee, a judge, said: “We leave it now.”", "Ann Lee"),
        ("They've always been sure of “the very best of all times and places of the world”.", None),
        ("The mood of Ohio's voters became “the very best of all times and places of the world”.", None),
        ("Ohio's chief secretary has “the very best of all times and places”.", "Ohio's chief secretary"),
        ("Now: “We leave it now.”", None),
        ("Bo Day told us that “it is out of our control,” telling Ann Lee to wait.", "Bo Day"),
        ("Without the work permits, “I did not have the right to do it.”", None),
        ("Ohio: False claims Bo Day, a judge, told us, “It is an absolutely false claim.”", "Bo Day"),
        ("What you need to know: “we leave it now, in the end of all things”", None),
    ],
)
def test_a_speaker_is_a_whole_phrase_and_no_more(text: str, speaker: str | None) -> None:
    assert [found[1] for found in quotes_in(text)] == [speaker]


@pytest.mark.parametrize(
    ("language", "text", "quotation"),
    [
        ("sv", "”Vi måste agera nu”, sade Ulf Kristersson.", "”Vi måste agera nu”"),
        (
            "ja",
            "彼は「もう時間がありません」と言った。「今すぐ出発しましょう。」",
            "「今すぐ出発しましょう。」",
        ),
    ],
)
def test_other_languages_have_quotations_without_speakers(language: str, text: str, quotation: str) -> None:
    assert (quotation, None, None) in quotes_in(text, language)


@pytest.mark.parametrize(
    "text",
    [
        "The so-called “Brexit” came.",
        "She starred in “Gone With the Wind” and left.",
        "He said he would watch “Good Morning America” on Monday.",
        "The dogs' owner left in the '90s, and so did Joneses' cat.",
        "They called it a “deal” and the markets rose for a long time after that.",
        "",
    ],
)
def test_a_word_or_a_title_in_marks_is_no_quotation(text: str) -> None:
    assert quotes_in(text) == []


def test_speech_goes_on_over_sentences_and_paragraphs() -> None:
    text = (
        "Ann Lee, who was angry, told us: “This is the first paragraph. It goes on.\n\n"
        "“This is the second one.” Then she left.\n\n"
        "“We stay here,” said Bo Day. “We like it.”"
    )
    assert quotes_in(text) == [
        ("“This is the first paragraph.", "Ann Lee", "ann lee"),
        ("It goes on.", "Ann Lee", "ann lee"),
        ("“This is the second one.”", "Ann Lee", "ann lee"),
        ("“We stay here,”", "Bo Day", "bo day"),
        ("“We like it.”", "Bo Day", "bo day"),
    ]


def test_speech_goes_on_over_sentences_without_paragraphs() -> None:
    texts = ["Ann Lee said: “One is here.", "Two is here.", "Three is here.”", "Four is here."]
    sentences = tuple(Sentence(f"a.s{n}", text) for n, text in enumerate(texts))
    assert [found[0] for found in found_in(Document("a", sentences))] == [
        "“One is here.",
        "Two is here.",
        "Three is here.”",
    ]


def test_speech_goes_on_in_paragraphs_that_are_not_known() -> None:
    texts = [
        "Ann Lee said: “One is here.",
        "Two is here.",
        "“Three is here.”",
        '"Four is here now.',
        '"Five is here," said Bo Day.',
        '"Six is here now.',
        *["It is over by now."] * 3,
        '"Seven is here," said Cy Fox.',
        "\"Eight is here,'said Di Hay.",
        '"Nine is here," said Ed Jay.',
    ]
    sentences = tuple(Sentence(f"a.s{n}", text) for n, text in enumerate(texts))
    assert [found[:2] for found in found_in(Document("a", sentences))] == [
        ("“One is here.", "Ann Lee"),
        ("Two is here.", "Ann Lee"),
        ("“Three is here.”", "Ann Lee"),
        ('"Four is here now.', "Bo Day"),
        ('"Five is here,"', "Bo Day"),
        ('"Seven is here,"', "Cy Fox"),
        ('"Nine is here,"', "Ed Jay"),
    ]


def test_a_mark_that_is_never_closed_ends_with_its_paragraph() -> None:
    text = "Bo Day said: “We never close this one. And so on.\n\nAnother paragraph follows here."
    assert [found[0] for found in quotes_in(text)] == ["“We never close this one.", "And so on."]


@pytest.mark.parametrize(
    ("before", "speaker", "name"),
    [
        ("President Donald Trump spoke. ", "Mr. Trump", "donald trump"),
        ("Donald J. Trump and Donald Trump spoke. ", "Trump", "donald trump"),
        ("Bill Clinton and Hillary Clinton spoke. ", "Clinton", None),
        ("Nobody came. ", "Trump", "trump"),
        ("Retired Lt. Gen. Michael Flynn spoke. ", "Flynn", "michael flynn"),
        ("White House Press Secretary Sean Spicer spoke. ", "Spicer", "sean spicer"),
        ("Martin Luther King spoke of King Kong. ", "Martin Luther King", "martin luther king"),
        ("Rep. G.K. Butterfield and José Ángel Pérez spoke. ", "Pérez", "josé ángel pérez"),
        ("G.K. Butterfield spoke. ", "Butterfield", "g.k. butterfield"),
        ("Nobody came. ", "the mayor of New York", None),
        ("Nobody came. ", "Trump's lawyer", None),
        ("Nobody came. ", "officials", None),
    ],
)
def test_a_speaker_stands_for_the_one_full_name_of_the_document(
    before: str, speaker: str, name: str | None
) -> None:
    assert quotes_in(f"{before}“We leave it now,” {speaker} said.") == [("“We leave it now,”", speaker, name)]


def test_he_said_has_a_name_only_if_there_is_one_person() -> None:
    surely = "“We stay here now,” Bo Day said. “We really do,” he added.\n\nLater, he said: “We go home.”"
    assert [name for *_, name in quotes_in(surely)] == ["bo day", "bo day", "bo day"]
    two = "“We stay here now,” Bo Day said.\n\nAl Fox came. He said: “We go home.” Al Fox said: “Now we go.”"
    assert [name for *_, name in quotes_in(two)] == ["bo day", None, "al fox"]
    unnamed = "The mayor spoke. “We stay here now,” he said."
    assert [name for *_, name in quotes_in(unnamed)] == [None]


def test_the_enricher_finds_quotations_without_a_model_and_keeps_those_of_the_document() -> None:
    enricher = Enricher(["quotes"], analyzer="english")
    assert set(enricher.recipe.versions) == {"quotes", "language"}
    document = build_document({"id": "a", "text": "“We leave now,” said Ann Lee. It rained."})
    assert [sentence.quotes for sentence in enricher.enrich(document)] == [
        (Quote(0, 15, "Ann Lee", "ann lee", "said", "certain"),),
        (),
    ]
    own = Quote(0, 4, "me")
    given = Document("b", (Sentence("b.s0", "“We leave now,” said Ann Lee.", quotes=(own,)),))
    assert [sentence.quotes for sentence in enricher.enrich(given)] == [(own,)]


def test_verbs_far_before_a_quotation_are_not_examined(monkeypatch: pytest.MonkeyPatch) -> None:
    examined = []

    def is_verb(grammar: Grammar, text: str, match: re.Match[str]) -> bool:
        examined.append(match.start())
        return False

    monkeypatch.setattr(Grammar, "is_verb", is_verb)
    quotes_in("and they said " * 500 + "“A storm came over the bay.”")
    assert 0 < len(examined) < 50


def test_the_recipe_of_quotations_depends_on_rules_and_language_alone() -> None:
    german, english = (Enricher(["quotes"], analyzer=name).recipe for name in ("german", "english"))
    assert german.agrees(english, "quotes", "fr") and not german.agrees(english, "quotes", None)
    everything = Enricher(["quotes", "features", "parse"], analyzer="english").recipe
    assert everything.fingerprints["quotes"] == english.fingerprints["quotes"]
    assert (
        everything.fingerprints["parse"]
        == Enricher(["parse"], analyzer="english").recipe.fingerprints["parse"]
    )


@pytest.mark.parametrize(
    "text",
    [
        "“We talked,” Ms Merkel said.\n\n“I reiterated to Chancellor Merkel my support.”",
        "“We talked,” Angela Merkel said. “I thanked Merkel’s staff for it.”",
        "Angela Merkel heard the words “I thanked Mrs Merkel for all that was done” again.",
        "Angela Merkel came. He said it. “We talked,” she said.\n\n“Merkel was right,” she said.",
    ],
)
def test_nobody_says_what_names_the_speaker_unless_a_verb_says_so(text: str) -> None:
    said = {quotation: (speaker, name) for quotation, speaker, name in quotes_in(text)}
    (third_person,) = (known for quotation, known in said.items() if "Merkel" in quotation)
    assert third_person in ((None, None), ("she", None))


@pytest.mark.parametrize(
    "text",
    [
        "Nicolas Bay was “encouraged” by the gains for the anti-EU Geert Wilders, saying it was a “success "
        "even though Wilders lost.”",
        "Kelly Ayotte, who is leading the team for Geert Wilders, 49, said in a statement, “Mr Wilders has "
        "made it very clear in all of his discussions.”",
    ],
)
def test_a_name_apart_from_the_verb_says_nothing_about_itself(text: str) -> None:
    assert all(name != "geert wilders" for quotation, _, name in quotes_in(text) if "Wilders" in quotation)


def test_a_name_apart_from_the_verb_may_speak_of_others() -> None:
    (quotation,) = quotes_in("Geert Wilders, who came late, said: “We have to win this election.”")
    assert quotation[2] == "geert wilders"


def test_who_is_quoted_by_name_may_say_the_own_name() -> None:
    assert quotes_in("“Nobody beats Trump,” Donald Trump said.") == [
        ("“Nobody beats Trump,”", "Donald Trump", "donald trump")
    ]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Putin spokesman Dmitry Peskov told journalists that it “can hardly be a deal”.", "dmitry peskov"),
        (
            "Putin spokesman Dmitry Peskov told us that Russia wants it and that the war in the east of it "
            "“can hardly be a subject for some kind of deal.”",
            "dmitry peskov",
        ),
        ("A Putin spokesman told journalists that it “can hardly be a deal”.", None),
        ("Putin spokesman told journalists that it “can hardly be a deal”.", None),
        ("“It can hardly be a deal,” said Putin spokeswoman Ann Lee.", "ann lee"),
        ("“It can hardly be a deal,” a lawyer representing Vladimir Putin said.", None),
        ("“It can hardly be a deal,” Vladimir Putin's lawyer said.", None),
        ("“It can hardly be a deal,” a spokeswoman for Vladimir Putin said.", None),
        ("“It can hardly be a deal,” Trump lawyer Michael Cohen said.", "michael cohen"),
        ("“It can hardly be a deal,” said Antonio Guterres' spokesman Ann Lee.", "ann lee"),
        ("“It can hardly be a deal,” said Antonio Guterres’ spokesman.", None),
    ],
)
def test_those_who_speak_for_somebody_are_not_that_person(text: str, name: str | None) -> None:
    assert [found[2] for found in quotes_in(f"Vladimir Putin came. {text}")] == [name]


def sentences_in(texts: list[str]) -> list[tuple[str, str | None]]:
    """The text and the speaker of each quotation of a document without paragraphs."""
    sentences = tuple(Sentence(f"a.s{n}", text) for n, text in enumerate(texts))
    return [found[:2] for found in found_in(Document("a", sentences))]


@pytest.mark.parametrize(
    "aside", ["READ MORE: Who votes for Bo Day?", "Rain and Storms Come to Ohio", "- OPINION: Bo Day is late"]
)
def test_a_link_or_a_heading_ends_an_unclosed_quotation(aside: str) -> None:
    texts = [
        "It rained in Ohio.",
        "Bo Day said Cy Fox should “at least leave the country now.",
        aside,
        "“You are late for it all,” Ann Lee told the minister.",
    ]
    assert sentences_in(texts) == [
        ("“at least leave the country now.", "Bo Day"),
        ("“You are late for it all,”", "Ann Lee"),
    ]


@pytest.mark.parametrize(
    ("text", "speaker"),
    [
        ("READ MORE: “We will never leave it.”", None),
        (
            "READ MORE: Kurds fight Ohio to keep Bo Day Lee said the land “must not face us there.”",
            None,
        ),
        ("RELATED: Storms come to Ohio “We will never leave it,” said Ann Lee.", "Ann Lee"),
    ],
)
def test_the_label_and_the_headline_of_a_link_never_speak(text: str, speaker: str | None) -> None:
    assert [found[1] for found in sentences_in([text, "It rained in Ohio."])] == [speaker]


@pytest.mark.parametrize(
    ("text", "speaker"),
    [
        ("“Lee is our best judge, and always was,” Lee's niece Bo Day shouted.", "Lee's niece Bo Day"),
        ("Lee's campaign told us: “Nobody in the team has asked for Lee's advice.”", "Lee's campaign"),
        ("On its page, the FBI lists “corruption of all kinds as the FBI’s first aim.”", "the FBI"),
        ("Ann Lee on Thursday raised her voice against Bo Day, saying “Day is weak, very weak.”", "Ann Lee"),
        ("Ann Lee met Bo Day, telling us: “We leave it now.”", "Ann Lee"),
        ("“We leave it now, for good.” ― Ann Lee", "Ann Lee"),
    ],
)
def test_a_speaker_is_found_though_others_are_named(text: str, speaker: str) -> None:
    assert [found[1] for found in quotes_in(text)] == [speaker]


@pytest.mark.parametrize(
    ("language", "text", "speaker"),
    [
        ("en", "Bay: “We leave it now, all of us.”", "Bay"),
        ("de", "Fazit: „Wir gehen jetzt alle weg von hier.“", None),
        ("de", "Alle mögen Bay. Bay: „Wir gehen jetzt alle weg.“", "Bay"),
        ("en", "Ann Lee: “We leave it now, all of us.”", "Ann Lee"),
        ("pl", "Cytuję: „Powiedz, że płacę dwa złote.”", None),
        ("pl", "Prezydent: „Nie wracam tu już nigdy.”", "Prezydent"),
        ("nl", "Fout: „Wij gaan er nu allemaal weg.”", None),
    ],
)
def test_the_first_word_of_a_sentence_is_no_speaker_for_its_capital(
    language: str, text: str, speaker: str | None
) -> None:
    assert [found[1] for found in quotes_in(text, language)] == [speaker]


@pytest.mark.parametrize(
    ("language", "text", "speakers"),
    [
        ("es", 'Ana Ruiz cree que es "un error muy grave", señaló a Efe.', ["Ana Ruiz"]),
        (
            "es",
            'Ana Ruiz dijo que "no quiere nada más" y añadió: "Me voy mañana."',
            ["Ana Ruiz", "Ana Ruiz"],
        ),
        ("es", '"Ya", dijo Ana Ruiz, y añadió: "Me voy mañana a casa."', ["Ana Ruiz"]),
        (
            "es",
            "Así lo confirma Ana Ruiz, quien ha asegurado que «todo sigue igual que antes».",
            ["Ana Ruiz"],
        ),
        (
            "es",
            'La portavoz del partido de Castilla, Ana Ruiz, ha asegurado: "No hay nada que temer."',
            ["Ana Ruiz"],
        ),
        ("pl", "Kiedy Jan Nowak był w Gdańsku, powiedział: „Nie wracam tu nigdy.”", ["Jan Nowak"]),
        ("pl", '"Nie wierzymy w to ani trochę" - pisze redakcja.', ["redakcja"]),
        ("pl", '"Nie wierzymy w to ani trochę" - powiedział cicho.', [None]),
        ("pl", "„To prawda – mówi Jan Nowak – ale nie wszystko.”", ["Jan Nowak"]),
        ("pl", "Po czym pacjent powtarza: „To dla mnie trucizna.”", ["pacjent"]),
        (
            "pl",
            "W tekście, jak widać, posłowie bronią praw, ale podkreślają, że „nie są one wszystkim”.",
            ["posłowie"],
        ),
        ("pl", "Kraj był – jak powiada Jan Nowak – „we władzy filozofów”.", ["Jan Nowak"]),
        ("pl", "„Tu jest bombowo” – twierdziły dzieci.", ["dzieci"]),
        ("nl", "Van der Schans: „Ik wist dat het moeilijk zou worden.”", ["Van der Schans"]),
        ("ru", "«Это правда, — сказал Иван Петров, — но не вся».", ["Иван Петров"]),
        ("nl", "„Dat is nu zo,” zei ie.", ["ie"]),
    ],
)
def test_a_speaker_is_found_where_the_grammar_of_a_language_puts_it(
    language: str, text: str, speakers: list[str | None]
) -> None:
    assert [found[1] for found in quotes_in(text, language)] == speakers


@pytest.mark.parametrize(
    ("text", "quotation", "speaker"),
    [
        (",,We gaan nu weg'', zei Jan Bakker.", ",,We gaan nu weg''", "Jan Bakker"),
        ("Jan Bakker zei: ,,We gaan nu weg.''", ",,We gaan nu weg.''", "Jan Bakker"),
        (",,Gaan we nu weg?'' vroeg Jan Bakker.", ",,Gaan we nu weg?''", "Jan Bakker"),
        (",,We gaan nu weg”, zei Jan Bakker.", ",,We gaan nu weg”", "Jan Bakker"),
    ],
)
def test_two_commas_open_a_quotation(text: str, quotation: str, speaker: str) -> None:
    assert [found[:2] for found in quotes_in(text, "nl")] == [(quotation, speaker)]


def test_two_commas_that_nothing_closes_are_no_mark() -> None:
    assert (
        quotes_in("Zij zei tegen Jan Bakker ,,we gaan nu samen weg naar het huis van de buren.", "nl") == []
    )
    assert quotes_in("Bread, milk,,eggs and butter are what Ann Lee said she wants, ''more or less''.") == []


def test_two_commas_after_a_comma_open_the_rest_of_a_quotation() -> None:
    found = quotes_in(",,Ik kom graag terug'', zei Jan Bakker,,,maar alleen als het mag.''", "nl")
    assert [speaker for _, speaker, _ in found] == ["Jan Bakker", "Jan Bakker"]


def test_titles_after_a_colon_or_a_comma_are_no_quotations() -> None:
    text = "Zijn werken: „De tocht van de zee” (1888), „Maskers tarten de dood” (1890)."
    assert quotes_in(text, "nl") == []
