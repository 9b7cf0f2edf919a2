from __future__ import annotations

from pathlib import Path

import pytest

import esr
from esr.errors import UsageError
from esr.ranking.answers import answer_dict
from esr.ranking.query_report import report_reading
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher, open_searcher
from esr.ranking.signals import signal_types
from tests.support.both_engines import ENGINES, open_loaded
from tests.support.elasticsearch import document as unlocated_document
from tests.support.folder_index import document, load


@pytest.fixture
def searcher(tmp_path: Path) -> Searcher:
    news = [
        document("A", "A storm came.", "It rained.", "The Floods followed.", title="Weather", source="s"),
        document("B", "Markets grew.", "A storm of selling.", "Calm."),
    ]
    load(tmp_path / "index", news, analyzer="english-stem")
    return open_searcher(str(tmp_path / "index"))


def ids(searcher: Searcher, query: str, **settings: object) -> list[str]:
    return sorted(hit.sentence_id for hit in searcher.search(query, 100, **settings).hits)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("", "the query is empty"),
        (" \t\n", "the query is empty"),
        ("the of and", "the query has only stop words"),
        ("... !", "the query has no words"),
    ],
)
def test_a_query_without_words_is_refused(searcher: Searcher, query: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        searcher.search(query)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_string_is_read_in_the_query_language_unless_it_is_literal(
    engine: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    news = [
        unlocated_document("A", "Towns cut off by a strike.", "Roads were cut off.", "The strike cut jobs.")
    ]
    request.param = engine
    with open_loaded(request, tmp_path, news) as searcher:
        query = '"cut off" -strike'
        assert ids(searcher, query) == ["A.s1"]
        assert ids(searcher, query, literal=True) == ids(searcher, "cut off strike")
        assert len(ids(searcher, query, literal=True)) == 3
        assert searcher.prepare(query, Ranking()).plan.condition is not None
        assert searcher.prepare(query, Ranking(), literal=True).plan.condition is None
        assert list(searcher.terms("source:x strike")) == list(searcher.terms("strike"))


@pytest.mark.parametrize("engine", ENGINES)
def test_a_stop_word_in_capitals_is_a_word_unless_the_whole_query_is_in_capitals(
    engine: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    news = [
        unlocated_document("A", "Those who left Mosul.", "Mosul is calm.", "It is IS that holds Mosul."),
        unlocated_document("B", "The WHO's chief spoke.", "“Who is it?” the chief asked.", "IT jobs grew."),
        unlocated_document("C", "Markets rose.", "Nothing else happened.", "Rain fell."),
    ]
    request.param = engine
    with open_loaded(request, tmp_path, news) as searcher:

        def matching(query: str) -> list[str]:
            return [hit.sentence_id for hit in searcher.search(query, candidates="matching").hits]

        assert matching("WHO") == ["B.s0"]
        assert matching("+WHO chief") == ["B.s0"]
        assert searcher.terms("who chief") == searcher.terms("chief")
        assert matching("IS Mosul")[0] == "A.s2"
        assert matching("IT") == ["B.s2"]
        assert list(searcher.terms("IS Mosul")) == ["IS", *searcher.terms("mosul")]
        assert searcher.terms("WHO IS IN MOSUL") == searcher.terms("mosul")
        assert searcher.terms("chief AND Mosul") == searcher.terms("chief mosul")
        report = report_reading(searcher.prepare("WHO IS MOSUL", Ranking()))
        assert [group.reading for group in report.groups] == ["ignored", "ignored", "wanted"]
        report = report_reading(searcher.prepare("IS in Mosul", Ranking()))
        assert [group.reading for group in report.groups] == ["wanted", "ignored", "wanted"]


def test_a_query_of_too_many_words_is_refused(searcher: Searcher) -> None:
    with pytest.raises(UsageError, match="1001 distinct terms: at most 1000"):
        searcher.search(" ".join(f"w{n}" for n in range(1001)))
    searcher.search("storm " * 5000)


def test_words_that_no_document_holds_are_named_as_they_were_typed(searcher: Searcher) -> None:
    answer = searcher.search("Storms and Volcanoes")
    assert answer.unseen == ("Volcanoes",)
    assert answer.total > 0
    assert searcher.search("storms of the U.A.E., Beyonce\u0301").unseen == ("U.A.E.", "Beyonce\u0301")


@pytest.mark.parametrize("candidates", ["matching", "context"])
def test_a_query_of_unseen_words_finds_nothing(searcher: Searcher, candidates: str) -> None:
    answer = searcher.search("volcano", candidates=candidates, priors={"length": 1.0})
    assert (answer.hits, answer.total, answer.unseen) == ([], 0, ("volcano",))


def test_a_query_of_unseen_words_ranks_all_sentences_by_their_priors_if_all_are_asked_for(
    searcher: Searcher,
) -> None:
    answer = searcher.search("volcano", 1000, candidates="all", priors={"length": 1.0})
    lengths = [len(searcher.index.analyzer.terms(hit.record.text)) for hit in answer.hits if hit.record]
    assert answer.unseen == ("volcano",)
    assert lengths and lengths == sorted(lengths, reverse=True)


@pytest.mark.parametrize(
    "signal", [*(name for name, kind in signal_types().items() if kind.needs is None), "feature len"]
)
def test_a_second_stage_of_nothing_is_an_empty_answer(searcher: Searcher, signal: str) -> None:
    answer = searcher.search(esr.parse_query("+storm -storm"), rerank=[{"signal": signal}])
    assert (answer.hits, answer.total, answer.unseen) == ([], 0, ())


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"candidates": "matching"}, ["A.s0", "B.s1"]),
        ({"context": "surrounding", "candidates": "context"}, ["A.s0", "A.s1", "B.s0", "B.s1", "B.s2"]),
        ({"context": "document"}, ["A.s0", "A.s1", "A.s2", "B.s0", "B.s1", "B.s2"]),
        ({"model": "bm25"}, ["A.s0", "B.s1"]),
    ],
)
def test_the_candidate_rule_says_what_is_ranked(
    searcher: Searcher, settings: dict, expected: list[str]
) -> None:
    assert ids(searcher, "storm", **settings) == expected


def test_a_titles_terms_reach_its_sentences_through_the_document_alone(searcher: Searcher) -> None:
    assert ids(searcher, "weather") == ["A.s0", "A.s1", "A.s2"]
    assert ids(searcher, "weather", candidates="matching") == []
    assert ids(searcher, "weather", context="surrounding") == []


def test_the_best_come_first_and_k_cuts_them(searcher: Searcher) -> None:
    all_hits = searcher.search("storm flood weather", 100)
    assert [h.score for h in all_hits.hits] == sorted((h.score for h in all_hits.hits), reverse=True)
    few = searcher.search("storm flood weather", 2)
    assert few.hits == all_hits.hits[:2]
    assert few.total == all_hits.total == 6


def test_a_ranking_and_its_settings_cannot_both_be_given(searcher: Searcher) -> None:
    with pytest.raises(UsageError, match="not both"):
        searcher.search("storm", ranking=Ranking(), model="bm25")


def test_a_setting_that_does_not_exist_is_refused(searcher: Searcher) -> None:
    with pytest.raises(UsageError, match="unknown ranking key 'mdoel': did you mean 'model'"):
        searcher.search("storm", mdoel="bm25")


@pytest.mark.parametrize("k", [0, -1])
def test_k_is_positive(searcher: Searcher, k: int) -> None:
    with pytest.raises(UsageError, match="k must be a positive number"):
        searcher.search("storm", k)


def test_without_records_only_ids_and_scores_come(searcher: Searcher) -> None:
    bare, full = searcher.search("storm", records=False), searcher.search("storm")
    assert [hit[:2] for hit in bare.hits] == [hit[:2] for hit in full.hits]
    assert all(hit.record is None for hit in bare.hits)
    assert all(hit.record is not None and hit.record.sentence_id == hit.sentence_id for hit in full.hits)


def test_an_answer_as_json_has_the_keys_that_programs_read(searcher: Searcher) -> None:
    data = answer_dict(searcher.search("flood volcano", 1))
    assert set(data) == {
        "hits",
        "total",
        "took_ms",
        "unseen",
        "incomplete",
        "scored",
        "exhaustive",
        "unknown_filters",
        "without_vector",
        "without_parse",
    }
    (hit,) = data["hits"]
    expected = {"sentence_id", "document_id", "score", "text", "previous", "next", "title", "source", "date"}
    assert set(hit) >= expected
    assert (hit["sentence_id"], hit["previous"], hit["next"]) == ("A.s2", "It rained.", None)
    assert (hit["title"], hit["source"], hit["date"]) == ("Weather", "s", None)
    assert (data["unseen"], data["incomplete"]) == (["volcano"], None)


def test_repeated_words_of_a_query_count_as_often(searcher: Searcher) -> None:
    assert Searcher.terms(searcher, "storm flood storms") == {"storm": 2, "flood": 1}
    once, twice = (searcher.search(q, 1, model="dir").hits[0].score for q in ("storm", "storm storm"))
    assert twice == pytest.approx(2 * once)


def test_a_searcher_closes_with_its_block(searcher: Searcher) -> None:
    with searcher as same:
        assert same is searcher


def test_a_prefix_adds_its_most_frequent_terms_the_most_frequent_first(tmp_path: Path) -> None:
    texts = ["Climate clinic", "Climate climber clinic", "Climate rain", "Climber", "Clip climax"]
    load(tmp_path / "index", [document("A", *texts)])
    with open_searcher(str(tmp_path / "index")) as searcher:
        prepared = searcher.prepare(esr.parse_query("clinic rain +cli*"), Ranking())
    assert list(prepared.counts.items()) == [("clinic", 1), ("rain", 1), ("climate", 1), ("climber", 1)]
    assert [term.term for term in prepared.plan.terms] == ["clinic", "rain", "climate", "climber"]


def test_a_hit_has_its_text_unless_ids_alone_were_asked_for(searcher: Searcher) -> None:
    assert searcher.search("floods", k=1).hits[0].text == "The Floods followed."
    (hit,) = searcher.search("floods", k=1, records=False).hits
    with pytest.raises(UsageError, match="the hits have ids alone: search with records=True"):
        _ = hit.text
