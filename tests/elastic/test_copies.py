"""A copy of an index searches as the original does, or Elasticsearch refuses to make it and says why."""

from __future__ import annotations

from typing import Any

import pytest

from esr.elastic.location import documents_index
from esr.ranking.searcher import open_searcher
from tests.support.elasticsearch import document, http
from tests.support.elasticsearch import load as load_documents
from tests.support.fake_enricher import FakeEnricher
from tests.support.stored_enrichment import enrich, read_enrichment

pytestmark = pytest.mark.elasticsearch
NEWS = [
    document("a", "Two earthquakes shook the town.", "Relief came late.", title="An earthquake"),
    document("b", "The earthquake in the capital.", "Towns flooded: no relief.", "Earthquakes end."),
]
OF_AN_INDEX = ("creation_date", "provided_name", "uuid", "version")
"""Settings that no other index may have."""


@pytest.fixture
def original(where: str) -> str:
    """A place with sentences that have vectors."""
    load_documents(where, NEWS)
    with open_searcher(where) as searcher:
        enrich(searcher.index, FakeEnricher())
    return where


def reindex(url: str, source: str, target: str) -> Any:
    body = {"source": {"index": source}, "dest": {"index": target}}
    return http("POST", f"{url}/_reindex?refresh=true", body)


def matches(place: str) -> list[str]:
    query = {"match": {"text": "earthquakes"}}
    hits = http("POST", f"{place}/_search", {"query": query, "sort": ["_score", "ordinal"]})["hits"]["hits"]
    return [hit["_id"] for hit in hits]


def test_an_index_that_has_only_the_templates_takes_no_copy(original: str) -> None:
    url, _, alias = original.rpartition("/")
    sentences = f"{alias}c-20250101t120000000000-esr-sentences"
    for source, target in (
        (alias, sentences),
        (f"{alias}-documents", documents_index(sentences)),
    ):
        http("PUT", f"{url}/{target}")
        try:
            failures = reindex(url, source, target)["failures"]
        except OSError as error:  # of the whole request, where all entries are refused
            failures = [{"cause": {"reason": error.read().decode()}}]  # type: ignore[attr-defined]
        assert failures
        assert "only esr gives an index its analyzer; see Copies in docs/elasticsearch.md" in str(failures)
        assert http("GET", f"{url}/{target}/_count")["count"] == 0


def test_a_copy_with_all_settings_and_mappings_searches_as_the_original(original: str) -> None:
    url, _, alias = original.rpartition("/")
    copied = f"{alias}c-20250101t120000000000-esr-sentences"
    actions = []
    for source, target, of_copy in (
        (alias, copied, f"{alias}c"),
        (f"{alias}-documents", documents_index(copied), f"{alias}c-documents"),
    ):
        (body,) = http("GET", f"{url}/{source}").values()
        settings = {
            name: value for name, value in body["settings"]["index"].items() if name not in OF_AN_INDEX
        }
        http("PUT", f"{url}/{target}", {"settings": settings, "mappings": body["mappings"]})
        assert reindex(url, source, target)["failures"] == []
        actions.append({"add": {"index": target, "alias": of_copy}})
    http("POST", f"{url}/_aliases", {"actions": actions})
    assert len(matches(original)) == 3
    assert matches(f"{url}/{alias}c") == matches(original)
    with open_searcher(original) as one, open_searcher(f"{url}/{alias}c") as two:
        for query in ("earthquakes in towns", '"relief came" OR flooding', "title:earthquake"):
            expected, actual = (searcher.search(query, 10).hits for searcher in (one, two))
            assert [(hit.sentence_id, hit.score) for hit in actual] == [
                (hit.sentence_id, hit.score) for hit in expected
            ]
        assert read_enrichment(two.index, NEWS) == read_enrichment(one.index, NEWS)
