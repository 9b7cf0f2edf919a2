"""Checks of quotations, on both engines: verdicts, first and later appearances, speakers."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

import esr
from esr.evidence.alignment import Alignment, read_quotation
from esr.evidence.claim_evidence import find_evidence
from esr.evidence.quotation_candidates import read_candidates, split_parts
from esr.evidence.quotation_check import check_text
from esr.evidence.quotation_marks import find_quotations
from esr.evidence.quotation_matches import NEAR, is_near
from esr.index.filters import NO_FILTERS
from esr.ranking.searcher import open_searcher
from esr.text.document import CERTAIN, Quote
from tests.support.elasticsearch import document, load, record_requests

EXACT = "an historic moment from which there can be no turning back"


def check(index: esr.Index, text: str) -> esr.CheckedQuotation:
    (found,) = index.check(text).quotations
    return found


def test_an_exact_quotation_has_the_oldest_appearance_first_and_its_speaker(index: esr.Index) -> None:
    found = check(index, EXACT.upper())
    assert (found.verdict, found.speaker, found.certainty) == ("exact", "Theresa May", "certain")
    assert found.first is not None
    assert (found.first.sentence_id, found.first.source, found.first.date) == (
        "bbc.s1",
        "bbc.co.uk",
        "2017-03-29",
    )
    assert (found.first.speaker, found.first.certainty) == ("Theresa May", "probable")
    assert found.first.text[found.first.start : found.first.end] == EXACT
    assert [(each.sentence_id, each.verdict) for each in found.later] == [
        ("cnn.s0", "near"),
        ("rte.s0", "exact"),
    ]
    assert [(d.text, d.original) for d in found.later[0].differences] == [("FROM", "for")]
    assert (found.differences, found.nearest) == ((), ())


def test_who_said_nearly_the_same_is_not_the_speaker_of_exact_words(index: esr.Index) -> None:
    found = check(index, "an historic moment for which")
    assert found.verdict == "exact" and found.first is not None
    assert [each.speaker for each in found.later] == ["Theresa May", "Theresa May"]
    assert (found.speaker, found.certainty) == (None, None)


def test_a_speaker_has_said_at_least_half_of_a_quotation(tmp_path: Path) -> None:
    made = [document("fell", "Wheat fell again today."), document("rose", "Wheat rose again today.")]
    quotes = [Quote(0, end, "Ann Lee", "ann lee", "said", CERTAIN) for end in (11, 10)]
    load(
        str(tmp_path / "index"),
        (
            replace(each, sentences=(replace(each.sentences[0], quotes=(quote,)),))
            for each, quote in zip(made, quotes, strict=True)
        ),
    )
    with esr.open(tmp_path / "index") as index:
        assert [check(index, each.sentences[0].text.rstrip(".")).speaker for each in made] == [
            "Ann Lee",
            None,
        ]


def test_a_quotation_with_wrong_words_is_near_and_shows_them(index: esr.Index) -> None:
    found = check(
        index,
        "a failure to reach an agreement would mean our cooperation in the fight against crime and terror",
    )
    assert found.verdict == "near"
    assert found.first is not None and found.first.sentence_id == "cnn.s1"
    assert (found.speaker, found.certainty) == (None, None), "a pronoun says nothing without its sentence"
    assert [(d.text, d.original) for d in found.differences] == [("an", ""), ("terror", "terrorism")]


def test_what_nobody_said_is_not_found_and_shows_the_nearest_sentences(index: esr.Index) -> None:
    found = check(index, "Parliament was never on this planet, I told the House")
    assert (found.verdict, found.speaker, found.first, found.later) == ("none", None, None, ())
    assert "bbc.s0" in [each.sentence_id for each in found.nearest]
    assert check(index, "qwertz uiop").nearest == ()
    assert check(index, "will not be").verdict == "none", "few words are exact or not found"
    assert check(index, "no turning back from there").verdict == "none", "two of five are too many"
    assert check(index, "be no turning around").verdict == "near"


@pytest.mark.parametrize(
    ("words", "cost", "longest", "in_half", "is_slip"),
    [
        (12, 3, 3, 3, True),
        (12, 4, 4, 2, False),  # more than a quarter beside one another
        (20, 5, 4, 4, True),
        (20, 6, 5, 5, False),  # however long the quotation is
        (10, 4, 2.5, 3.5, True),
        (10, 4, 2.5, 4, False),  # more than .35 in one half
        (10, 3, 2.5, 3, True),
        (10, 3.5, 2.5, 3.5, False),  # more than .3 if the other half has none
        (5, 1, 1, 1, True),
        (5, 2, 1, 1, False),  # a short quotation
        (6, 2, 1, 1, True),
        (6, 2, 2, 2, True),  # two are always few
        (10, 4.5, 2, 3, True),
        (10, 5, 2, 3, False),  # too many in all
    ],
)
def test_few_differences_that_are_apart_are_slips(
    words: int, cost: float, longest: float, in_half: float, is_slip: bool
) -> None:
    alignment = Alignment(0, 9, 1, cost, longest, in_half, words, ())
    assert is_near(alignment, NEAR) == is_slip


def test_sentences_with_all_words_of_a_quotation_are_compared_first_from_the_oldest(folder: str) -> None:
    with open_searcher(folder) as searcher:
        parts = split_parts(EXACT, read_quotation(EXACT))
        ids = [record.sentence_id for record in read_candidates(searcher, EXACT, parts)]
    assert ids[:2] == ["bbc.s1", "rte.s0"]


def test_a_quotation_may_span_sentences_and_leave_out_words(index: esr.Index) -> None:
    for text in (
        "We will leave the single market. We want a new partnership with Europe.",
        "leave the single market … a new partnership with [Brussels]",
    ):
        found = check(index, text)
        assert found.verdict == "exact"
        assert found.first is not None and found.first.sentence_id == "cnn.s2"
        assert found.first.text == "“We will leave the single market. We want a new partnership with Europe.”"


def test_the_place_of_a_quotation_is_that_in_the_sentences_it_spans(index: esr.Index) -> None:
    found = check(index, "the single market. We want a new partnership with Europe. Prices").first
    assert found is not None and found.sentence_id == "cnn.s2"
    assert found.text[found.start : found.end] == "the single market. We want a new partnership with Europe"


@pytest.mark.parametrize(
    ("text", "verdict", "most"),
    [
        ("an historic moment from which there can be no turning back", "exact", 3),
        ("an historic moment for which there could be no turning back", "near", 3),
        ("We will leave the single market. We want a new partnership with Britain.", "near", 4),
        ("Parliament was never on this planet, I told the House", "none", 4),
    ],
)
def test_a_check_asks_a_server_few_times(
    index: esr.Index, text: str, verdict: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    check(index, text)  # the statistics of the collection, and the names, are read once
    requests = record_requests(monkeypatch)
    assert check(index, text + " yes").verdict in (verdict, "near")
    assert len(requests) <= most if "://" in index.where else not requests, requests


def test_each_quotation_of_a_text_is_checked_at_its_place(index: esr.Index) -> None:
    text = f'May said “{EXACT}”. Later: "the House rose for dinner".'
    found = index.check(text).quotations
    assert [each.verdict for each in found] == ["exact", "near"]
    assert [text[each.start : each.end] for each in found] == [each.text for each in found]
    assert [each.text for each in found] == [EXACT, "the House rose for dinner"]


def test_quotations_are_found_by_marks_of_all_kinds() -> None:
    def texts(text: str) -> list[str]:
        return [text[start:end] for start, end in find_quotations(text)]

    assert texts('A “b c” d „e f“ g «h i» j »k l« m 「世界」 n "o p".') == [
        "b c",
        "e f",
        "h i",
        "k l",
        "世界",
        "o p",
    ]
    assert texts("She's sure: 'we won't pay', he said.") == ["we won't pay"]
    assert texts("Don't say it's ours.") == []
    assert texts("“One\n“two” three") == ["One\n“two"]


def test_all_words_of_a_long_quotation_are_compared(tmp_path: Path) -> None:
    said = [" ".join(f"Word{number}" for number in range(at, at + 20)) + "." for at in range(0, 800, 20)]
    invented = "Nobody has ever said this invented end of it."
    where = str(tmp_path / "index")
    load(where, [document("speech", *said)])
    with esr.open(where) as index:
        as_said, altered = (" ".join([*said[5:], *end]) for end in ([], [invented] * 5))
        assert [each.verdict for each in index.check(as_said).quotations] == ["exact", "exact"]
        found = index.check(f"She said: “{altered}” and left.").quotations
        assert [each.verdict for each in found] == ["exact", "none"]
        assert found[0].text.startswith("Word100 ") and found[1].text.endswith(invented[:-1])
        draft = " ".join(["said"] * 700)
        assert index.check_draft(draft).quotations[-1].end == len(draft)


def test_a_text_that_cannot_be_checked_is_refused(index: esr.Index) -> None:
    for text, message in (("  ", "no quotation"), ("… !", "no word"), ("a " * 200_000, "characters")):
        with pytest.raises(esr.UsageError, match=message):
            index.check(text)


def test_who_was_first_is_decided_by_moments_and_not_by_how_they_are_written(tmp_path: Path) -> None:
    said = "The minister said that the harbour bridge will close in June."
    dates = {"later": "2017-03-01T23:30:00-05:00", "first": "2017-03-02T01:00:00+01:00", "last": "20170303"}
    where = str(tmp_path / "index")
    load(where, [document(id, said, date=date, source=id) for id, date in dates.items()])
    with open_searcher(where) as searcher:
        (text,) = find_evidence(searcher, said, NO_FILTERS).says_so
        (checked,) = check_text(searcher, said).quotations
    order = ["first", "later", "last"]
    assert [text.source, *(copy.source for copy in text.copies)] == order
    assert checked.first is not None
    assert [checked.first.source, *(appearance.source for appearance in checked.later)] == order
