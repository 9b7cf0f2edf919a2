"""What the Python API takes as it is natural, and what it refuses, on both engines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import esr
from esr.errors import IndexClosed, UsageError
from esr.index.filters import Filters
from esr.index.hits import Hit, SentenceRecord
from esr.plans.plan import HasAttribute
from esr.query import parse
from esr.ranking.answers import answer_dict, best_of_documents, require_record
from esr.ranking.prepared_query import Answer
from esr.ranking.query_report import report_reading
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher, find_language, open_searcher
from esr.ranking.second_stage.signal_types import signal_types
from esr.text.dates import parse_date_end, parse_date_start
from tests.support.elasticsearch import document as unlocated_document
from tests.support.folder_index import document, load
from tests.support.index_contents import ENGINES, open_loaded


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
        "unread",
        "by_default",
        "no_meaning",
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


def test_a_searcher_closes_its_index_unless_it_is_told_that_others_use_it(searcher: Searcher) -> None:
    with Searcher(searcher.index, owns_index=False):
        pass
    assert searcher.search("storm").hits
    with Searcher(searcher.index):
        pass
    with pytest.raises(IndexClosed):
        searcher.search("storm")


def test_an_answer_has_ten_sentences_unless_another_number_is_asked_for(tmp_path: Path) -> None:
    load(tmp_path / "index", [document("A", *["A storm came."] * 12)])
    with open_searcher(tmp_path / "index") as searcher:
        assert [len(searcher.search("storm", *k).hits) for k in ((), (11,))] == [10, 11]


@pytest.mark.parametrize("part", ["parse", "vectors"])
def test_a_signal_that_the_index_has_no_values_for_says_how_to_get_them(
    searcher: Searcher, part: str
) -> None:
    name = next(name for name, kind in signal_types().items() if kind.needs == part)
    noun = {"parse": "parses", "vectors": "vectors"}[part]
    with pytest.raises(UsageError, match=f"has no {noun}: run esr enrich --only {part}, or rank without"):
        searcher.search("storm", rerank=[{"signal": name}])


def test_a_language_that_no_document_is_in_is_refused(tmp_path: Path) -> None:
    news = [document("A", "A storm came.", language="en"), document("B", "Ein Sturm kam.", language="de")]
    load(tmp_path / "index", news, analyzer="by-language")
    with open_searcher(tmp_path / "index") as searcher:
        with pytest.raises(UsageError, match=r"no document of .* is in the language fr: it has (en|de), "):
            find_language(searcher.index, parse("storm language:fr"))
        assert find_language(searcher.index, parse("storm language:de")).language == "de"
        assert find_language(searcher.index, parse("storm")).language == "en"


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


NEWS = [
    document("a", "A storm came.", date="2023-12-31", source="Northern Wire", section="World"),
    document(
        "b", "The storm went.", date="2024-01-01", source="BBC", authors=("Ann Lee",), keywords=("rain",)
    ),
    document("c", "No storm now.", date="2024-01-31T10:00:00Z", source="BBC", metadata={"desk": "Berlin"}),
    document("d", "One more storm.", date="2024-02-01"),
]


@pytest.fixture(scope="module", params=ENGINES)
def either_searcher(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Searcher]:
    documents = [located.document for located in NEWS]
    with open_loaded(request, tmp_path_factory.mktemp("arguments"), documents) as searcher:
        yield searcher


def found(searcher: Searcher, filters: Any) -> str:
    return "".join(sorted(hit.sentence_id[0] for hit in searcher.search("storm", filters=filters).hits))


@pytest.mark.parametrize(
    ("filters", "documents"),
    [
        (None, "abcd"),
        (Filters(date_from="2024-01-01"), "bcd"),
        (Filters(date_from="2024"), "bcd"),
        (Filters(date_from=2024), "abcd"),  # milliseconds
        (Filters(date_to="2024-01"), "abc"),
        (Filters(date_from=date(2024, 1, 1), date_to=date(2024, 1, 31)), "bc"),
        (Filters(date_from=datetime(2024, 1, 31, 10, tzinfo=UTC)), "cd"),
        (Filters(date_from=datetime(2024, 1, 31, 10)), "cd"),
        (Filters(date_to=datetime(2024, 1, 31, 11, tzinfo=timezone(timedelta(hours=2)))), "ab"),
        (Filters(date_from=parse_date_start("2024"), date_to=parse_date_end("2024-01")), "bc"),
        (Filters(sources="Northern Wire"), "a"),
        (Filters(sources=["bbc", "Northern Wire"]), "abc"),
        (Filters(sources={"BBC"}), "bc"),
        (Filters(sources=None), "abcd"),
        (Filters(documents="d"), "d"),
        (Filters(documents=(id for id in "ad")), "ad"),
        (Filters(attributes={"author": "ann lee"}), "b"),
        (Filters(attributes={"keyword": ["rain", "snow"], "section": ()}), "b"),
        (Filters(attributes={"meta.desk": "Berlin"}), "c"),
        (Filters(attributes=HasAttribute(("section",), ("World",))), "a"),
        ({"source": "BBC"}, "bc"),
        ({"source": ["Northern Wire", "BBC"], "to": date(2023, 12, 31)}, "a"),
        ({"from": "2024-02"}, "d"),
        ({"from": 2024}, "bcd"),
        ({"before": np.int64(2024)}, "a"),
        ({"to": 2023}, "a"),
        ({"from": parse_date_start("2024-02")}, "d"),
        ({"author": "Ann Lee"}, "b"),
        ({"meta": "desk=Berlin"}, "c"),
        ({"meta": ["desk=Berlin"], "keyword": "rain"}, ""),
        ({"document": "a", "section": "world"}, "a"),
        ({}, "abcd"),
    ],
)
def test_filters_are_taken_as_people_write_them(
    either_searcher: Searcher, filters: Any, documents: str
) -> None:
    assert found(either_searcher, filters) == documents
    prepared = either_searcher.prepare("storm", Ranking())
    assert len(prepared.search(10, filters).hits) == len(documents)


@pytest.mark.parametrize("k", [2, np.int64(2), np.uint8(2)], ids=repr)
def test_a_number_of_sentences_is_any_whole_number(either_searcher: Searcher, k: int) -> None:
    assert len(either_searcher.search("storm", k).hits) == 2


@pytest.mark.parametrize("k", [0, -1, "3", 2.5, None, True, [1]], ids=repr)
def test_another_number_of_sentences_is_refused(either_searcher: Searcher, k: Any) -> None:
    for search in (
        either_searcher.search,
        lambda query, k: either_searcher.prepare(query, Ranking()).search(k),
    ):
        with pytest.raises(UsageError, match=re.escape(f"k must be a positive number, not {k!r}")):
            search("storm", k)


@pytest.mark.parametrize("query", [None, 7, b"storm", ["storm"], Path("storm")], ids=repr)
def test_a_query_that_is_no_text_is_refused(either_searcher: Searcher, query: Any) -> None:
    message = re.escape(f"a query is a text or the result of esr.parse_query, not {query!r}")
    for call in (
        either_searcher.search,
        either_searcher.terms,
        lambda query: either_searcher.prepare(query, Ranking()),
    ):
        with pytest.raises(UsageError, match=message):
            call(query)
    with pytest.raises(UsageError, match=re.escape(f"a query is a text, not {query!r}")):
        esr.parse_query(query)


@pytest.mark.parametrize(
    ("filters", "message"),
    [
        ("BBC", "filters are Filters or a mapping such as {'source': 'BBC', 'after': '2024-01'}, not 'BBC'"),
        (["BBC"], "filters are Filters or a mapping such as"),
        ({"sorce": "BBC"}, "unknown filter 'sorce': did you mean 'source'?"),
        ({1: "BBC"}, "unknown filter '1'"),
        ({"source": 7}, "filter 'source' is a text or several, not 7"),
        ({"from": "soon"}, "filter 'from' is a date such as '2024-01-31', not 'soon'"),
        ({"from": "2024-02", "to": "2024-01"}, "the first day is after the last"),
        ({"from": 20240131}, "filter 'from' is a date such as '2024-01-31', a year, or milliseconds"),
        (
            {"to": 1706659200},
            "filter 'to' is a date such as '2024-01-31', a year, or milliseconds since 1970",
        ),
        ({"from": True}, "filter 'from' is a date such as '2024-01-31', not True"),
        ({"meta": "Berlin"}, "metadata is filtered by KEY=VALUE, such as desk=Berlin, not 'Berlin'"),
    ],
    ids=str,
)
def test_other_filters_are_refused(either_searcher: Searcher, filters: Any, message: str) -> None:
    for search in (either_searcher.search, either_searcher.prepare("storm", Ranking()).search):
        with pytest.raises(UsageError, match=re.escape(message)):
            search(**({"query": "storm"} if search == either_searcher.search else {}), filters=filters)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"date_from": "someday"}, "date_from is a date such as '2024-01-31', not 'someday'"),
        ({"date_to": 1.5}, "date_to is a date such as '2024-01-31', not 1.5"),
        ({"date_to": True}, "date_to is a date such as '2024-01-31', not True"),
        ({"date_from": ["2024"]}, "date_from is a date"),
        ({"date_from": "2024-02", "date_to": "2024-01"}, "the first day is after the last"),
        ({"sources": 7}, "sources is a text or several, not 7"),
        ({"sources": b"BBC"}, "sources is a text or several, not b'BBC'"),
        ({"documents": [1]}, "documents is a text or several, not [1]"),
        ({"entities": {"person": "Ann"}}, "entities is a text or several, not {'person': 'Ann'}"),
        ({"attributes": {"autor": "Ann"}}, "unknown attribute 'autor': did you mean 'author'?"),
        ({"attributes": {"author": 7}}, "author is a text or several, not 7"),
        ({"attributes": "Ann"}, "attributes is a mapping such as {'author': 'Ann Lee'}, not 'Ann'"),
    ],
    ids=str,
)
def test_filters_say_what_is_wrong_when_they_are_made(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=re.escape(message)):
        Filters(**arguments)


def test_a_ranking_is_also_a_name_a_file_or_a_mapping(either_searcher: Searcher, tmp_path: Path) -> None:
    (tmp_path / "ranking.json").write_text('{"model": "bm25"}', "utf-8")
    expected = either_searcher.search("storm", model="bm25").hits
    for ranking in (tmp_path / "ranking.json", str(tmp_path / "ranking.json"), {"model": "bm25"}):
        assert either_searcher.search("storm", ranking=ranking).hits == expected
        assert either_searcher.prepare("storm", ranking).search().hits == expected
    with pytest.raises(UsageError, match="a ranking is a Ranking, a mapping or the name of a file, not 7"):
        either_searcher.search("storm", ranking=7)  # type: ignore[arg-type]


def test_a_folder_may_be_a_path(tmp_path: Path) -> None:
    load(tmp_path / "index", NEWS)
    with open_searcher(tmp_path / "index") as searcher:
        assert searcher.search("storm").total == 4
        assert searcher.index.where == str(tmp_path / "index")


@pytest.mark.parametrize("where", [None, 7, b"index", ["index"]], ids=repr)
def test_another_location_is_refused(where: Any) -> None:
    message = f"an index is a folder or http(s)://host:port/alias, not {where!r}"
    with pytest.raises(UsageError, match=re.escape(message)):
        open_searcher(where)


STORM = SentenceRecord(
    "a.s1", "a", 1, "Rain fell.", "Clouds came.", None, "Storm", "2017-03-01", "Wire", "https://x.org/1", "en"
)


def test_an_answer_has_the_documented_keys() -> None:
    shape = answer_dict(Answer([Hit("a.s1", -1.5, STORM)], 9, 1.23456, ("xyz",), "1 of 3 shards failed"))
    assert shape.pop("hits") == [
        {
            "sentence_id": "a.s1",
            "document_id": "a",
            "position": 1,
            "score": -1.5,
            "text": "Rain fell.",
            "previous": "Clouds came.",
            "next": None,
            "title": "Storm",
            "source": "Wire",
            "date": "2017-03-01",
            "url": "https://x.org/1",
            "language": "en",
            "direction": "ltr",
            "features": {},
            "entities": None,
            "paragraph": None,
            "authors": [],
            "section": None,
            "keywords": [],
        }
    ]
    assert shape == {
        "total": 9,
        "took_ms": 1.235,
        "unseen": ["xyz"],
        "incomplete": "1 of 3 shards failed",
        "scored": None,
        "exhaustive": None,
        "unknown_filters": [],
        "without_vector": None,
        "without_parse": None,
        "unread": None,
        "by_default": None,
        "no_meaning": None,
    }


def test_a_hit_without_its_sentence_is_a_fault_of_the_program() -> None:
    with pytest.raises(TypeError, match=r"a\.s1"):
        require_record(Hit("a.s1", 0.0, None))


@pytest.mark.parametrize("k", [1, 2, 3, 9])
def test_the_best_documents_are_found_however_many_sentences_of_one_come_first(k: int) -> None:
    ranked = [*(f"a.{n}" for n in range(50)), *(f"b.{n}" for n in range(50)), "a.50", "c.0"]
    found = best_of_documents(lambda n: ranked[:n], k, lambda sentence: sentence[0])
    assert found == ["a.0", "b.0", "c.0"][:k]
