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
from esr.errors import UsageError
from esr.index.filters import Filters
from esr.plans.condition import HasAttribute
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher, open_searcher
from esr.text.dates import parse_date_end, parse_date_start
from tests.support.both_engines import ENGINES, open_loaded
from tests.support.folder_index import document, load

NEWS = [
    document("a", "A storm came.", date="2023-12-31", source="Northern Wire", section="World"),
    document(
        "b", "The storm went.", date="2024-01-01", source="BBC", authors=("Ann Lee",), keywords=("rain",)
    ),
    document("c", "No storm now.", date="2024-01-31T10:00:00Z", source="BBC", metadata={"desk": "Berlin"}),
    document("d", "One more storm.", date="2024-02-01"),
]


@pytest.fixture(scope="module", params=ENGINES)
def searcher(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
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
        ({"author": "Ann Lee"}, "b"),
        ({"meta": "desk=Berlin"}, "c"),
        ({"meta": ["desk=Berlin"], "keyword": "rain"}, ""),
        ({"document": "a", "section": "world"}, "a"),
        ({}, "abcd"),
    ],
)
def test_filters_are_taken_as_people_write_them(searcher: Searcher, filters: Any, documents: str) -> None:
    assert found(searcher, filters) == documents
    prepared = searcher.prepare("storm", Ranking())
    assert len(prepared.search(10, filters).hits) == len(documents)


@pytest.mark.parametrize("k", [2, np.int64(2), np.uint8(2)], ids=repr)
def test_a_number_of_sentences_is_any_whole_number(searcher: Searcher, k: int) -> None:
    assert len(searcher.search("storm", k).hits) == 2


@pytest.mark.parametrize("k", [0, -1, "3", 2.5, None, True, [1]], ids=repr)
def test_another_number_of_sentences_is_refused(searcher: Searcher, k: Any) -> None:
    for search in (searcher.search, lambda query, k: searcher.prepare(query, Ranking()).search(k)):
        with pytest.raises(UsageError, match=re.escape(f"k must be a positive number, not {k!r}")):
            search("storm", k)


@pytest.mark.parametrize("query", [None, 7, b"storm", ["storm"], Path("storm")], ids=repr)
def test_a_query_that_is_no_text_is_refused(searcher: Searcher, query: Any) -> None:
    message = re.escape(f"a query is a text or what esr.parse_query makes of it, not {query!r}")
    for call in (searcher.search, searcher.terms, lambda query: searcher.prepare(query, Ranking())):
        with pytest.raises(UsageError, match=message):
            call(query)
    with pytest.raises(UsageError, match=re.escape(f"a query is a text, not {query!r}")):
        esr.parse_query(query)


@pytest.mark.parametrize(
    ("filters", "message"),
    [
        ("BBC", "filters are Filters or a mapping such as {'source': 'BBC', 'from': '2024-01'}, not 'BBC'"),
        (["BBC"], "filters are Filters or a mapping such as"),
        ({"sorce": "BBC"}, "unknown filter 'sorce': did you mean 'source'?"),
        ({1: "BBC"}, "unknown filter '1'"),
        ({"source": 7}, "filter 'source' is a text or several, not 7"),
        ({"from": "soon"}, "filter 'from' is a date such as '2024-01-31', not 'soon'"),
        ({"from": "2024-02", "to": "2024-01"}, "the first day is after the last"),
        ({"meta": "Berlin"}, "metadata is filtered by KEY=VALUE, such as desk=Berlin, not 'Berlin'"),
    ],
    ids=str,
)
def test_other_filters_are_refused(searcher: Searcher, filters: Any, message: str) -> None:
    for search in (searcher.search, searcher.prepare("storm", Ranking()).search):
        with pytest.raises(UsageError, match=re.escape(message)):
            search(**({"query": "storm"} if search == searcher.search else {}), filters=filters)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"date_from": "yesterday"}, "date_from is a date such as '2024-01-31', not 'yesterday'"),
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


def test_a_ranking_is_also_a_name_a_file_or_a_mapping(searcher: Searcher, tmp_path: Path) -> None:
    (tmp_path / "ranking.json").write_text('{"model": "bm25"}', "utf-8")
    expected = searcher.search("storm", model="bm25").hits
    for ranking in (tmp_path / "ranking.json", str(tmp_path / "ranking.json"), {"model": "bm25"}):
        assert searcher.search("storm", ranking=ranking).hits == expected
        assert searcher.prepare("storm", ranking).search().hits == expected
    with pytest.raises(UsageError, match="a ranking is a Ranking, a mapping or the name of a file, not 7"):
        searcher.search("storm", ranking=7)  # type: ignore[arg-type]


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
