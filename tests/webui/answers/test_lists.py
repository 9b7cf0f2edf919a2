""""""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from esr.index.hits import Hit
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher
from tests.support.fake_index import STORM, FakeIndex
from webui.answers.explanations import ExplainedSentence, explain_sentence
from webui.answers.lists import Entry, build_entries, fold_hits, hits_to_fetch
from webui.arguments.request import Arrangement, SearchRequest
from webui.running.settings import Settings

ROWS = [
    ("a", "2017-03-01"),
    ("b", "2018"),
    ("a", "2017-03-01"),
    ("c", None),
    ("d", "not a date"),
    ("b", "2018"),
]
HITS = [
    Hit(f"s{n}", -float(n), STORM._replace(text=f"word{n}", document_id=document, date=date))
    for n, (document, date) in enumerate(ROWS)
]


def arrange_hits(hits: Sequence[Hit], arrangement: Arrangement) -> list[Entry]:
    return build_entries(fold_hits(hits, arrangement, FakeIndex()), arrangement)


def arranged_ids(arrangement: Arrangement) -> list[list[str]]:
    return [[f.hit.sentence_id for f in entry.folded] for entry in arrange_hits(HITS, arrangement)]


def test_sorted_by_score_hits_keep_the_order_of_the_engine() -> None:
    assert arranged_ids(Arrangement()) == [["s0"], ["s1"], ["s2"], ["s3"], ["s4"], ["s5"]]


def test_sentences_are_grouped_by_document_at_the_rank_of_the_best() -> None:
    assert arranged_ids(Arrangement(group=True)) == [["s0", "s2"], ["s1", "s5"], ["s3"], ["s4"]]


@pytest.mark.parametrize(
    "arrangement",
    [
        Arrangement(),
        Arrangement("date"),
        Arrangement(group=True),
        Arrangement("date", True),
        Arrangement(fold=False),
    ],
)
def test_requesting_more_entries_moves_none_of_the_first(arrangement: Arrangement) -> None:
    def first_ids(k: int) -> list[str]:
        hits = HITS[: hits_to_fetch(arrangement, k, 3)]
        return [entry.best.sentence_id for entry in arrange_hits(hits, arrangement)[:k]]

    assert first_ids(3)[:2] == first_ids(2)


def test_a_page_is_full_even_if_each_sentence_has_a_duplicate() -> None:
    hits = [Hit(f"s{n}", -float(n), STORM._replace(text=f"word{n // 2}")) for n in range(60)]
    fetched = hits[: hits_to_fetch(Arrangement(), 10, 100)]
    entries = arrange_hits(fetched, Arrangement())[:10]
    assert len(entries) == 10
    assert all(len(entry.folded[0].similar) == 1 for entry in entries)


QUERY = "earthquakes relief China"
SENTENCE = "earthquake-relief.s0"


def explained(searcher: Searcher, query: str = QUERY) -> ExplainedSentence:
    search = SearchRequest(query, Ranking())
    return explain_sentence(searcher, search, SENTENCE, Settings())


def test_terms_lead_to_the_words_as_they_were_typed(searcher: Searcher) -> None:
    sentence = explained(searcher)
    terms = [part.origin.name for part in sentence.explanation.terms]
    assert [sentence.words[term] for term in terms] == QUERY.split()


def test_an_acronym_is_shown_with_its_periods(searcher: Searcher) -> None:
    assert explained(searcher, "U.S. earthquake's relief").words == {
        "us": "U.S.",
        "earthquak": "earthquake's",
        "relief": "relief",
    }


def test_the_json_has_the_text_and_the_tree(searcher: Searcher) -> None:
    data = explained(searcher).as_dict()
    assert data["text"].startswith("A strong earthquake")
    assert data["tree"]["apart"][0]["distance"] > 0
