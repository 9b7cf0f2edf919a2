"""Which speakers are certain: those that nobody could read otherwise."""

from __future__ import annotations

import pytest

from esr.enrichment.quotations.quotes import find_quotes
from esr.text.document import CERTAIN, PROBABLE
from esr.text.validate import build_document


def certainties(text: str) -> list[tuple[str | None, str | None]]:
    """The name and the certainty of the speaker of each quotation in a text."""
    document = build_document({"id": "a", "text": text, "language": "en"})
    return [(quote.name, quote.certainty) for quotes in find_quotes(document, "en") for quote in quotes]


@pytest.mark.parametrize(
    "text",
    [
        "“We leave it now,” said Ann Lee.",
        "“We leave it now,” Ann Lee, a judge from Ohio, later told reporters.",
        "Ann Lee told reporters in Ohio: “We leave it now.”",
        "Judge Ann Lee said that “we leave it now”.",
        "According to Ann Lee, “we leave it now, for good”.",
        "Ann Lee came. “We leave it now,” Lee said.",
        "“Nobody leaves Lee,” Ann Lee said.",
        "“We leave it now for the good of it all.” ― Ann Lee",
    ],
)
def test_a_speaker_beside_a_verb_beside_the_quotation_is_certain(text: str) -> None:
    assert certainties(text) == [("ann lee", CERTAIN)]


def test_what_directly_follows_a_certain_speaker_is_certain() -> None:
    text = "“We leave it now,” said Ann Lee, a judge from Ohio. “We never come back. It is over,” she added."
    assert certainties(text) == [("ann lee", CERTAIN)] * 3


@pytest.mark.parametrize(
    "text",
    [
        "Ann Lee met the mayor of Ohio, who came late, saying “we leave it now”.",
        "A man shot Ann Lee, at a bar in Ohio after shouting “get out of my country now”.",
        "Ann Lee was told: “We leave it now.”",
        "Ann Lee was quoted as saying “we leave it now”.",
        "“The deal is done,” Ann Lee said it was late.",
        "Soldiers said: “We leave it now,” Ann Lee added.",
        "Ann Lee claimed it when put “we leave it now” on her door.",
        "Ann Lee said “Lee is the best judge of all”.",
    ],
)
def test_a_speaker_who_may_be_another_is_probable(text: str) -> None:
    assert certainties(text) in ([("ann lee", PROBABLE)], [(None, None)])


@pytest.mark.parametrize(
    ("before", "speaker", "found"),
    [
        ("The envoy to the United Nations Ann Lee came. ", "Lee", ("ann lee", PROBABLE)),
        ("Ohio and the Commonwealth Lee said no. ", "Lee", ("commonwealth lee", PROBABLE)),
        ("", "NATO Secretary Ann Lee", ("ann lee", CERTAIN)),
        ("", "Bank of Ohio Governor Ann Lee", ("ann lee", CERTAIN)),
        ("", "the Ohio Republican", ("ohio republican", PROBABLE)),
        ("Lee came. ", "Lee", ("lee", CERTAIN)),
        ("", "officials", (None, None)),
        ("", "Defence Council Ann Lee", ("ann lee", CERTAIN)),
        ("", "Ohio Airlines Chief Executive Ann Lee", ("ann lee", CERTAIN)),
        ("", "Ohio Football Association", ("ohio football association", CERTAIN)),
        ("BBC Radio Lee spoke of Lee. ", "Lee", ("lee", CERTAIN)),
        ("Rostec grew. ", "Rostec Ann Lee", ("rostec ann lee", PROBABLE)),
        ("", "Green Party MP", ("green party mp", PROBABLE)),
        ("", "Ohio's Prime Minister, Ann Lee,", ("ann lee", PROBABLE)),
    ],
)
def test_a_name_that_may_be_an_office_or_a_body_is_not_certain(
    before: str, speaker: str, found: tuple[str | None, str | None]
) -> None:
    assert certainties(f"{before}“We leave it now,” {speaker} said.") == [found]


def test_a_sentence_that_leads_to_the_next_quotation_makes_nobody_certain_of_the_one_before() -> None:
    text = "“We never come back. Good night!” Ann Lee, a judge, said in Ohio, “We apologize for it.”"
    assert certainties(text) == [("ann lee", PROBABLE), ("ann lee", PROBABLE), ("ann lee", CERTAIN)]


def test_the_name_of_a_title_of_capitals_is_not_taken() -> None:
    document = build_document(
        {
            "id": "a",
            "title": "Bo Day Slams Ann Lee",
            "text": "Lee came. “We leave it now,” Lee said.",
            "language": "en",
        }
    )
    assert [quote.name for quotes in find_quotes(document, "en") for quote in quotes] == ["lee"]
