from __future__ import annotations

import pytest

from esr.documents import dates
from esr.engines.index import Filters
from esr.errors import EngineUnreachable
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher
from tests.webui.fake_index import FakeIndex
from webui.narrowing import Facet, facets


def counted(searcher: Searcher, filters: Filters) -> dict[str, Facet]:
    plan = searcher.prepare("earthquake relief China", Ranking()).plan
    return {facet.field: facet for facet in facets(searcher.index, plan, filters)}


def test_each_count_is_what_a_search_within_it_finds(searcher: Searcher) -> None:
    found = counted(searcher, Filters())
    assert set(found) == {"source", "month", "location"}
    for facet in found.values():
        for value in facet.values:
            given = value.arguments
            filters = Filters(
                date_from=dates.parse_date_start(given["from"]) if "from" in given else None,
                date_to=dates.parse_date_end(given["to"]) if "to" in given else None,
                sources=(given["source"],) if "source" in given else (),
                entities=(given["entity"],) if "entity" in given else (),
            )
            assert searcher.search("earthquake relief China", filters=filters).total == value.count


def test_months_stand_in_their_order_newest_first(searcher: Searcher) -> None:
    names = [value.name for value in counted(searcher, Filters())["month"].values]
    assert names == sorted(names, reverse=True) and len(names) > 1


@pytest.mark.parametrize(
    "field, name, filters",
    [
        ("source", "Northern Wire", Filters(sources=("Northern Wire",))),
        ("month", "2024-11", Filters(dates.parse_date_start("2024-11"), dates.parse_date_end("2024-11"))),
        ("location", "China", Filters(entities=("location:China",))),
    ],
)
def test_a_field_is_counted_without_its_own_filter(
    searcher: Searcher, field: str, name: str, filters: Filters
) -> None:
    wide, narrow = counted(searcher, Filters())[field], counted(searcher, filters)[field]
    assert [(v.name, v.count) for v in wide.values] == [(v.name, v.count) for v in narrow.values]
    assert [v.name for v in narrow.values if v.chosen] == [name]
    assert not any(v.chosen for v in wide.values)


def test_an_engine_without_counts_gives_no_facets(index: FakeIndex) -> None:
    searcher = Searcher(index)
    plan = searcher.prepare("storm", Ranking()).plan
    index.error = EngineUnreachable("down")
    assert facets(index, plan, Filters()) == []
