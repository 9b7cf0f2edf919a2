from __future__ import annotations

from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher
from webui.answers.explanations import ExplainedSentence, explain_sentence
from webui.arguments.request import SearchRequest
from webui.running.settings import Settings

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
