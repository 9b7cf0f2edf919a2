from __future__ import annotations

from markupsafe import Markup

from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher
from webui.answers.explanation import ExplainedSentence, explain_sentence
from webui.arguments.search_request import SearchRequest
from webui.pages.tree_picture import describe_term_set, tree_picture
from webui.running.settings import Settings

ACCENT = 'fill="#a3262e"'


def explained(
    searcher: Searcher,
    ranking: Ranking,
    query: str = "earthquakes relief China",
    sentence: str = "earthquake-relief.s0",
) -> ExplainedSentence:
    return explain_sentence(searcher, SearchRequest(query, ranking), sentence, Settings())


def drawn(sentence: ExplainedSentence) -> Markup:
    picture = tree_picture(sentence)
    assert picture is not None
    return picture


def test_the_paths_between_the_words_that_scored_are_drawn(searcher: Searcher) -> None:
    plain = explained(searcher, Ranking())
    assert plain.tree is not None and len(plain.tree.marked) == 2
    assert drawn(plain).count(ACCENT) == 2
    reranked = explained(searcher, Ranking.from_dict({"rerank": [{"signal": "mrf_sdm"}]}))
    assert reranked.explanation.second is not None
    assert drawn(reranked).count(ACCENT) == len(reranked.explanation.second.chosen)


def test_the_words_of_a_tree_are_escaped(searcher: Searcher) -> None:
    picture = drawn(explained(searcher, Ranking(), "pilot", "hostile.s0"))
    assert "<img" not in picture and "<script" not in picture


def test_a_term_set_that_scored_is_described_in_a_few_words(searcher: Searcher) -> None:
    second = explained(searcher, Ranking.from_dict({"model": "mrf_fdm"})).explanation.second
    assert second is not None
    descriptions = [describe_term_set(part) for part in second.signals[0].sets]
    assert descriptions and descriptions[0].startswith("proximity: earthquak + china, ")
    assert " apart, " in descriptions[0]
    second = explained(searcher, Ranking.from_dict({"model": "tdsr"})).explanation.second
    assert second is not None
    (part,) = second.signals[0].sets
    assert describe_term_set(part) == "earthquak, alone"
