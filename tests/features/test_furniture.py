"""What is no sentence is found, and no sentence is taken for it. The labelled sentences are made up."""

from __future__ import annotations

import pytest

from esr.features.furniture import MIN_REPEATS, FurnitureFinder, find_furniture
from tests.support.fake_enricher import from_texts, values

SENTENCES = [
    "Rivers rose on Monday, and two towns were cut off.",
    "“We read more books than ever,” the librarian said.",
    "Related companies were fined as well.",
    "He said: “The source of the leak is known.”",
    "NEW DELHI: The prime minister met the opposition on Friday.",
    "BREAKING: The court has stopped the order.",
    "TRUMP: I will sign it tomorrow.",
    "By October, half of the camps had been closed.",
    "Source: the ministry said it had asked two experts before it published the figures.",
    "She follows us on every journey and writes about it.",
    "Opinion polls show a narrow lead.",
    "Watch them closely, the trainer told her team.",
    "The law asks websites for consent before they store cookies.",
    "Facebook and Twitter removed the accounts.",
    "He wrote to editor@example.org that the report was wrong in every one of its claims.",
    "Yes.",
    "Sie lesen auch nachts, sagt die Lehrerin.",
    "Quellen der Polizei bestätigten den Fund.",
    "Folgen Sie dem Rat der Ärzte, bat der Minister.",
    "Das Thema beschäftigt die Stadt seit Jahren.",
    "Foto und Film erzählen von einer Flucht.",
    "La suite du procès est attendue jeudi.",
    "Il faut lire aussi entre les lignes, a dit l'avocat.",
    "Читайте договор внимательно, советует юрист.",
    "Источник пожара пока неизвестен.",
    "来源不明的资金流入了市场。",
    "記者会見は三十分で終わった。",
    "वह और पढ़ना चाहती है।",
]
FURNITURE = [
    "READ MORE: Towns cut off by floods",
    "READ MORE: Towns cut off by floods The army brought food on Tuesday.",
    "RELATED - Who pays for the dams?",
    "WATCH: Who is to blame for the floods?",
    "OPINION: The dams came too late",
    "See also: Floods of the century",
    "Learn more",
    "Continue reading…",
    "Source: Northern Wire and agencies",
    "Photo: Jane Doe/Northern Wire",
    "Sign up for our newsletter and get the news in your inbox.",
    "Follow Jane Doe on Twitter: @janedoe",
    "Contact the writer at jane.doe@example.org",
    "Share this article:",
    "Send Facebook Twitter Google+ Whatsapp Tumblr linkedin Digg reddit",
    "We use cookies to improve our website, and you accept that by reading on.",
    "© 2017 Northern Wire",
    "All rights reserved.",
    "* * *",
    "Lesen Sie auch: Hochwasser im Norden",
    "Mehr zum Thema",
    "Quelle: dpa",
    "Wir verwenden Cookies auf dieser Webseite.",
    "Abonnieren Sie unseren Newsletter!",
    "À lire aussi : Les crues du siècle",
    "Crédit photo : Jeanne Dupont",
    "Suivez-nous sur Facebook",
    "Lea también: La crecida del siglo",
    "Читайте также: Наводнение на севере",
    "Фото: Иван Иванов",
    "相关阅读：北方的洪水",
    "続きを読む",
    "यह भी पढ़ें: उत्तर में बाढ़",
    "اقرأ أيضا: الفيضانات في الشمال",
]


@pytest.mark.parametrize("text", SENTENCES)
def test_a_sentence_is_no_furniture_alone_or_in_a_text(text: str) -> None:
    assert find_furniture([text]) == [0]
    assert find_furniture([text, *SENTENCES[:8]])[0] == 0


@pytest.mark.parametrize("text", FURNITURE)
def test_phrases_of_pages_are_found_in_many_languages(text: str) -> None:
    assert find_furniture([text])[0] >= 0.75


PLAIN = ["The dam broke.", "It rained.", "Two towns were cut off.", "Help came late."]


@pytest.mark.parametrize(
    "line",
    [
        "Jane Doe / Northern Wire",
        "By Jane Doe, correspondent in the north",
        "March 23",
        "FLOODS OF THE CENTURY",
        "Floods Cut Off Towns in the North",
    ],
)
def test_a_line_that_does_not_end_like_the_sentences_of_its_document_is_furniture(line: str) -> None:
    assert find_furniture([*PLAIN, line])[-1] == 0.75


@pytest.mark.parametrize(
    "line",
    [
        "the towns were cut off by floods that nobody had foreseen",
        "Die Lage im Norden bleibt angespannt",
        "“He will come back,” said Jane Doe,",
        "You can also help in these ways:",
    ],
)
def test_a_long_line_in_small_letters_may_be_a_sentence(line: str) -> None:
    assert find_furniture([*PLAIN, line])[-1] == 0


def test_lines_are_no_furniture_where_no_sentence_ends_with_a_mark() -> None:
    lines = ["floods cut off towns", "Jane Doe", "HELP CAME LATE IN MARCH", "March 23", "The dam broke."]
    assert find_furniture(lines) == [0] * 5
    assert find_furniture(lines[:1]) == [0]


def repeat(documents: int, others: int = 0, sources: tuple[str, str] = ("a", "a")) -> float:
    """The value of a sentence that so many documents have twice among four of their own."""
    finder, ours = FurnitureFinder(), "Our view is our own."
    for n in range(documents):
        own = [f"Part {part} of story {n} began." for part in range(4)]
        finder.add(sources[n % 2], [own[0], ours, *own[1:], ours])
    for n in range(others):
        finder.add("a", [f"Another story {n} began."])
    found = finder.values()
    assert len(found) == 6 * documents + others
    repeated = found[: 6 * documents].reshape(documents, 6)
    assert not repeated[:, [0, 2, 3, 4]].any() and not found[6 * documents :].any()
    assert (repeated[:, 1] == repeated[:, 5]).all()
    return float(repeated[0, 1])


def test_what_many_documents_of_a_source_repeat_is_furniture() -> None:
    assert repeat(MIN_REPEATS) == 0.75
    assert repeat(MIN_REPEATS - 1) == 0
    assert repeat(MIN_REPEATS, 2500) == 0  # too few of so many
    assert repeat(MIN_REPEATS, sources=("a", "b")) == 0


def test_versions_of_one_story_repeat_no_furniture() -> None:
    finder = FurnitureFinder()
    story = ["The dam broke.", "Two towns were cut off.", "Help came late."]
    for n in range(3 * MIN_REPEATS):
        finder.add("a", [*story, f"That was version {n}."])
    assert not finder.values().any()
    assert not len(FurnitureFinder().values())


def test_the_feature_is_known_for_furniture_alone() -> None:
    assert values("furniture", from_texts(*PLAIN, "Learn more")) == [None, None, None, None, 1]
