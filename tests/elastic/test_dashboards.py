"""docs/dashboards.md: what Kibana and OpenSearch Dashboards ask of an index, on a real node.

No dashboard runs here: the requests are those that its data view and its view of entries send.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from esr.text.document import Document, Sentence
from tests.support.elasticsearch import fresh, http, load

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "dashboards.md").read_text("utf-8")
(VIEW,) = map(json.loads, (ROOT / "deploy" / "data-view.ndjson").read_text("utf-8").splitlines())
ATTRIBUTES = VIEW["attributes"]
HIDDEN = [each["value"] for each in json.loads(ATTRIBUTES["sourceFilters"])]
LATER = ("title.keyword", "source.lower", "authors.lower", "section.lower", "keywords.lower")
NEWS = [
    Document(
        "a",
        (
            Sentence("a.s0", "The county government sent relief.", {"count": 2.0}),
            Sentence("a.s1", "It rained."),
        ),
        title="Floods in the county",
        date="2017-03-01",
        source="Northern Wire",
        url="https://example.org/a?x=1",
        language="en",
        authors=("Jane Doe", "J. Li"),
        section="World",
        keywords=("Weather",),
        metadata={"desk": "Berlin"},
    ),
    Document(
        "b",
        (Sentence("b.s0", "The government of the county flooded the market."),),
        title="Markets",
        date="2017-03-05",
        source="northern wire",
        url="https://example.org/b",
    ),
    Document("c", (Sentence("c.s0", "Nothing more is known."),), url="https://example.org/" + "c" * 9000),
]


@pytest.fixture(scope="module")
def where(elasticsearch_url: str) -> Iterator[str]:
    with fresh(elasticsearch_url) as location:
        load(location, NEWS)
        yield location


def find(where: str, query: Mapping[str, Any]) -> list[str]:
    """The ids of the sentences that match a query, in their order."""
    body = {"query": query, "sort": [{"ordinal": "asc"}]}
    answer = http("POST", f"{where}/_search", body)
    assert answer["_shards"]["failed"] == 0
    return [hit["_id"] for hit in answer["hits"]["hits"]]


def words(text: str, **more: Any) -> dict[str, Any]:
    """Words without a field, as the line for queries sends them: of no field, so that the index chooses."""
    return {"multi_match": {"query": text, "lenient": True, **more}}


def test_the_fields_of_the_page_match_sort_and_count_as_it_says(where: str) -> None:
    known = http("GET", f"{where}/_field_caps?fields=*")["fields"]
    seen = set()
    for row in re.findall(r"^\| (`.*)\|$", PAGE, re.MULTILINE):
        names, of_words, is_filter, is_counted = map(str.strip, row.split("|"))
        for name in re.findall(r"`([a-z_.]+)`", names):
            if name in ("metadata", "metadata.desk"):  # a field of this type is known by its root alone
                continue
            ((kind, caps),) = known[name].items()
            assert (kind == "text") is of_words.startswith("yes"), name
            if not is_filter.startswith("slowly"):
                assert caps["searchable"] is (of_words.startswith("yes") or is_filter != ""), name
            assert caps["aggregatable"] is (is_counted != ""), name
            seen.add(name)
    assert {*LATER, "title", "url", "date"} < seen
    assert known["date"].keys() == {"date"} and ATTRIBUTES["timeFieldName"] == "date"


def test_the_data_view_names_fields_that_there_are(where: str) -> None:
    (mapping,) = http("GET", f"{where}/_mapping").values()
    roots = {*mapping["mappings"]["properties"], "vectors", "metadata_values"}
    shown = json.loads(ATTRIBUTES["fieldAttrs"])
    assert {name.partition(".")[0] for name in [*HIDDEN, *shown]} <= roots
    assert not {*HIDDEN} & {*shown}
    for name in re.findall(r"`([a-z_.*]+)`", PAGE.split("these field filters:")[1].split("\n\n")[0]):
        assert name in HIDDEN


def test_words_without_a_field_find_sentences_and_titles(where: str) -> None:
    assert find(where, words("flood", type="best_fields")) == ["a.s0", "a.s1", "b.s0"]
    assert find(where, words("relief")) == ["a.s0"]  # its document's other sentence has it as context only
    assert find(where, words("county government", type="phrase")) == ["a.s0"]
    assert find(where, {"query_string": {"query": '"county government"'}}) == ["a.s0"]
    documents = http("GET", f"{where}-documents/_search?q=flood")["hits"]["hits"]
    assert {hit["_id"] for hit in documents} == {"a", "b"}


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("title", "flood", ["a.s0", "a.s1"]),
        ("title.keyword", "Markets", ["b.s0"]),
        ("source", "northern wire", ["b.s0"]),
        ("source.lower", "NORTHERN wire", ["a.s0", "a.s1", "b.s0"]),
        ("authors.lower", "jane doe", ["a.s0", "a.s1"]),
        ("section.lower", "WORLD", ["a.s0", "a.s1"]),
        ("keywords.lower", "weather", ["a.s0", "a.s1"]),
        ("url", "https://example.org/b", ["b.s0"]),
        ("url", "https://example.org/a?x=1", ["a.s0", "a.s1"]),
        ("metadata.desk", "Berlin", ["a.s0", "a.s1"]),
    ],
)
def test_a_value_that_is_clicked_filters(where: str, field: str, value: str, expected: list[str]) -> None:
    assert find(where, {"bool": {"filter": [{"match_phrase": {field: value}}]}}) == expected


def shown_fields(where: str) -> dict[str, Any]:
    """How a view of entries asks for their fields: Kibana, or OpenSearch Dashboards."""
    date = {"field": "date", "format": "date_time"}
    if "distribution" in http("GET", where.rpartition("/")[0])["version"]:
        return {"docvalue_fields": [date], "script_fields": {}}
    return {"fields": [{"field": "*", "include_unmapped": "true"}, date]}


def test_a_view_of_entries_answers_with_what_a_person_reads(where: str) -> None:
    """The search of Discover, by time, with a chart, marks and all fields except those that are hidden."""
    request = {
        "track_total_hits": True,
        "size": 500,
        "sort": [{"date": {"order": "desc", "unmapped_type": "boolean"}}, {"_doc": {"order": "desc"}}],
        "stored_fields": ["*"],
        **shown_fields(where),
        "_source": {"excludes": HIDDEN},
        "query": {
            "bool": {
                "filter": [
                    words("county", type="best_fields"),
                    {
                        "range": {
                            "date": {"gte": "2017-01-01T00:00:00Z", "format": "strict_date_optional_time"}
                        }
                    },
                ]
            }
        },
        "aggs": {
            "days": {"date_histogram": {"field": "date", "calendar_interval": "1d", "time_zone": "UTC"}},
            "sources": {"terms": {"field": "source.lower", "order": {"_count": "desc"}, "size": 5}},
            "titles": {"terms": {"field": "title.keyword", "size": 5}},
            "documents": {"cardinality": {"field": "document_id"}},
        },
        "highlight": {
            "fields": {"*": {}},
            "fragment_size": 2147483647,
            "pre_tags": ["@"],
            "post_tags": ["@"],
        },
    }
    answer = http("POST", f"{where}/_search", request)
    assert answer["_shards"]["failed"] == 0
    hits, found = answer["hits"]["hits"], answer["aggregations"]
    assert {hit["_id"] for hit in hits} == {"a.s0", "a.s1", "b.s0"} and hits[0]["_id"] == "b.s0"
    shown = {"sentence_id", "document_id", "position", "text", "title", "date", "source", "url"}
    assert shown <= hits[0]["_source"].keys() <= shown | {"previous", "next"}
    assert hits[0]["highlight"]["text"] == ["The government of the @county@ flooded the market."]
    assert [(bucket["key"], bucket["doc_count"]) for bucket in found["sources"]["buckets"]] == [
        ("northern wire", 3)
    ]
    assert {bucket["key"] for bucket in found["titles"]["buckets"]} == {"Floods in the county", "Markets"}
    assert sum(bucket["doc_count"] for bucket in found["days"]["buckets"]) == 3
    assert found["documents"]["value"] == 2
