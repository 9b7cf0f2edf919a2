from __future__ import annotations

import pytest
from flask.testing import FlaskClient

from esr.documents import dates
from esr.engines.index import Filters
from esr.errors import EngineUnreachable
from esr.queries import parse
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher
from tests.support.fake_index import FakeIndex
from webui.pages.facets import FacetList, count_facets

Q = "q=earthquake+relief+China"


def facets(searcher: Searcher, filters: Filters, long: str | None = None) -> dict[str, FacetList]:
    prepared = searcher.prepare("earthquake relief China", Ranking())
    return {facet.field: facet for facet in count_facets(prepared, filters, long)}


def test_each_count_is_of_sentences_that_hold_a_word_of_the_query_and_satisfy_its_filter(
    searcher: Searcher,
) -> None:
    by_field = facets(searcher, Filters())
    assert set(by_field) == {"source", "month", "location"}
    for facet in by_field.values():
        for value in facet.values:
            arguments = value.arguments
            filters = Filters(
                date_from=dates.parse_date_start(arguments["from"]) if "from" in arguments else None,
                date_to=dates.parse_date_end(arguments["to"]) if "to" in arguments else None,
                sources=(arguments["source"],) if "source" in arguments else (),
                entities=(arguments["entity"],) if "entity" in arguments else (),
            )
            answer = searcher.search("earthquake relief China", filters=filters, candidates="matching")
            assert answer.total == value.count
            assert searcher.search("earthquake relief China", filters=filters).total >= value.count
    assert by_field["source"].values[0].count < searcher.search("earthquake relief China").total


@pytest.mark.parametrize("query", ['"relief funds"', "China +relief", 'source:"Northern Wire"', "relie*"])
def test_where_the_query_requires_something_the_counts_are_of_sentences_that_have_it(
    searcher: Searcher, query: str
) -> None:
    prepared = searcher.prepare(parse(query), Ranking())
    (source,) = (facet for facet in count_facets(prepared, Filters()) if facet.field == "source")
    assert sum(value.count for value in source.values) == prepared.search().total > 0


def test_months_are_listed_newest_first(searcher: Searcher) -> None:
    names = [value.name for value in facets(searcher, Filters())["month"].values]
    assert names == sorted(names, reverse=True) and len(names) > 1


@pytest.mark.parametrize(
    "field, name, filters",
    [
        ("source", "Northern Wire", Filters(sources=("Northern Wire",))),
        ("month", "2024-11", Filters(dates.parse_date_start("2024-11"), dates.parse_date_end("2024-11"))),
        ("location", "China", Filters(entities=("location:China",))),
        ("location", "China", Filters(entities=("the CHINA’s",))),
        ("source", "Northern Wire", Filters(sources=("northern wire",))),
    ],
)
def test_a_field_is_counted_without_its_own_filter(
    searcher: Searcher, field: str, name: str, filters: Filters
) -> None:
    wide, narrow = facets(searcher, Filters())[field], facets(searcher, filters)[field]
    assert [(v.name, v.count) for v in wide.values] == [(v.name, v.count) for v in narrow.values]
    assert [v.name for v in narrow.values if v.is_selected] == [name]
    assert not any(v.is_selected for v in wide.values)


def test_an_engine_without_counts_gives_no_facets(index: FakeIndex) -> None:
    prepared = Searcher(index).prepare("storm", Ranking())
    index.error = EngineUnreachable("down")
    assert count_facets(prepared, Filters()) == []


def test_one_field_is_listed_at_length_in_its_place(
    searcher: Searcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webui.pages.facets.VALUES", 1)
    monkeypatch.setattr("webui.pages.facets.MORE_VALUES", 2)
    short, long = facets(searcher, Filters()), facets(searcher, Filters(), "month")
    assert list(short) == list(long) == ["source", "month", "location"]
    assert {field: len(facet.values) for field, facet in long.items()} == {
        "source": 1,
        "month": 2,
        "location": 1,
    }
    assert short["month"].has_more and not short["month"].is_long
    assert [field for field, facet in long.items() if facet.is_long] == ["month"]


def test_more_values_are_a_link_and_so_are_fewer(real: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webui.pages.facets.VALUES", 1)
    short = real.get(f"/search?{Q}").text
    assert f'href="/search?{Q}&amp;facet=source#facets"' in short and "Fewer" not in short
    long = real.get(f"/search?{Q}&facet=source").text
    assert f'href="/search?{Q}#facets"' in long
    assert long.count("<bdi>") > short.count("<bdi>")
    refused = real.get(f"/search?{Q}&facet=place")
    assert refused.status_code == 400 and "nknown facet" in refused.text


def test_an_unknown_name_or_source_says_so_and_offers_the_nearest(real: FlaskClient) -> None:
    page = real.get(f"/search?{Q}&source=BBC&entity=Chine").text
    assert "unknown name &#39;Chine&#39;: did you mean &#39;China&#39;?" in page
    assert f'href="/search?{Q}&amp;source=BBC&amp;entity=China"' in page
    assert "unknown source &#39;BBC&#39;" in page
    assert "unknown" not in real.get(f"/search?{Q}&entity=china").text
