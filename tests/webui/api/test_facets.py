"""Facets and completion over the API: what the page lists, and more of it."""

from __future__ import annotations

from typing import Any

import pytest
from flask.testing import FlaskClient

from esr.engines.filters import FACET_FIELDS
from tests.support.api_requests import error, get

Q = {"q": "earthquake relief China"}
MATCHING = Q | {"candidates": "matching"}


def values(client: FlaskClient, field: str, **arguments: Any) -> dict[str, int]:
    (facet,) = get(client, "/facets", field=field, **Q, **arguments)["facets"]
    assert facet["field"] == field
    return {value["value"]: value["count"] for value in facet["values"]}


def test_each_count_is_of_sentences_with_a_word_of_the_query_and_the_value(real: FlaskClient) -> None:
    facets = get(real, "/facets", **Q)["facets"]
    assert [facet["field"] for facet in facets] == list(FACET_FIELDS)
    for name, count in values(real, "location").items():
        assert get(real, "/search", entity=f"location:{name}", **MATCHING)["total"] == count
    for name, count in values(real, "source").items():
        assert get(real, "/search", source=name.upper(), **MATCHING)["total"] == count


def test_a_size_lists_so_many_and_says_whether_there_are_more(real: FlaskClient) -> None:
    everything = values(real, "source", size=1000)
    assert len(everything) > 1
    for size in (1, len(everything) - 1, len(everything)):
        (facet,) = get(real, "/facets", field="source", size=size, **Q)["facets"]
        assert len(facet["values"]) == size
        assert facet["more"] == (size < len(everything))


def test_a_field_is_counted_without_its_own_filter_and_with_the_others(real: FlaskClient) -> None:
    assert values(real, "location", entity="China") == values(real, "location")
    assert sum(values(real, "source", entity="China").values()) < sum(values(real, "source").values())


def test_words_in_no_document_have_no_values(real: FlaskClient) -> None:
    facets = get(real, "/facets", q="qwertyuiop")["facets"]
    assert len(facets) == len(FACET_FIELDS) and not any(facet["values"] or facet["more"] for facet in facets)


def test_names_and_sources_complete_what_is_typed(real: FlaskClient) -> None:
    (china,) = get(real, "/values", field="entity", prefix="CHI")["values"]
    assert (china["value"], china["type"]) == ("China", "location")
    assert get(real, "/search", entity="China", q="China", candidates="all")["total"] == china["count"]
    (typed,) = get(real, "/values", field="entity", prefix="location:ch")["values"]
    assert typed["value"] == "location:China"
    assert get(real, "/values", field="entity", prefix="person:ch")["values"] == []
    sources = get(real, "/values", field="source", prefix="wire", size=100)["values"]
    assert "Northern Wire" in [source["value"] for source in sources]
    assert len(get(real, "/values", field="source", size=1)["values"]) == 1


@pytest.mark.parametrize("path, known", [("/facets", "organization"), ("/values", "entity")])
def test_an_unknown_field_is_refused(real: FlaskClient, path: str, known: str) -> None:
    failure = (
        error(real, path, 400, field="organisatio", q="storm")
        if path == "/facets"
        else error(real, path, 400, field="entit")
    )
    assert failure["field"] == "field" and known in failure["message"]


def test_an_answer_names_unknown_sources_and_names_and_the_nearest(real: FlaskClient) -> None:
    answer = get(real, "/search", source="Northen Wire", entity=["Chine", "person:China", "Xyz"], **Q)
    assert answer["total"] == 0
    assert answer["unknown_filters"] == [
        {
            "field": "source",
            "value": "Northen Wire",
            "message": "unknown source 'Northen Wire': did you mean 'Northern Wire'?",
            "nearest": "Northern Wire",
        },
        {
            "field": "entity",
            "value": "Chine",
            "message": "unknown name 'Chine': did you mean 'China'?",
            "nearest": "China",
        },
        {
            "field": "entity",
            "value": "person:China",
            "message": "'China' is a location in this index, not: person; search for location:China",
            "nearest": "location:China",
        },
        {
            "field": "entity",
            "value": "Xyz",
            "message": "unknown name 'Xyz': no sentence has it",
            "nearest": None,
        },
    ]
    assert get(real, "/search", source="northern wire", entity="CHINA", **Q)["unknown_filters"] == []
