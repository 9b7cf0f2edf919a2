from __future__ import annotations

import time
from typing import Any

import pytest

import esr
from esr.engines.elasticsearch import enrichment as engine
from esr.enrichment.recipe import Recipe
from esr.errors import EsrError
from tests.engines.elasticsearch.support import document, http, load
from tests.enrichment.fake_enricher import FakeEnricher
from tests.enrichment.stored_enrichment import enrich, read_enrichment

DOCUMENTS = [document(f"n{n}", *(f"storm {n} {m}" for m in range(n % 4))) for n in range(25)]


def test_slices_share_no_document_and_leave_none_out(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "_PAGE", 3)
    load(where, DOCUMENTS[:20], shards=3)
    load(where, DOCUMENTS[20:], if_exists="append")
    asked: list[str] = []
    with esr.open(where) as searcher:
        for place in (2, 3, 1):
            enricher = FakeEnricher()
            report = enrich(searcher.index, enricher, slice=(place, 3))
            assert len(enricher.enriched_ids) in (8, 9)
            asked += enricher.enriched_ids
            assert report.notes[0].startswith(
                "Elasticsearch now merges" if place == 1 else f"{25 - len(asked)} of 25"
            )
    assert sorted(asked) == sorted(d.id for d in DOCUMENTS)


def test_the_recipe_stands_in_each_index(where: str) -> None:
    load(where, DOCUMENTS[:20])
    load(where, DOCUMENTS[20:], if_exists="append")
    with esr.open(where) as searcher:
        enrich(searcher.index)
    recipe = FakeEnricher().recipe
    found = http("GET", f"{where}/_mapping")
    assert len(found) == 2
    for index in found.values():
        meta = index["mappings"]["_meta"]["esr"]
        assert Recipe.from_dict(meta["recipes"][recipe.digest]) == recipe
        assert meta["complete"] and meta["analyzer"] == "english-stem"


def test_an_index_from_before_enrichment_gets_the_fields(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from esr import resources

    whole = resources.load

    def before(path: str) -> Any:
        found = whole(path)
        if path not in ("components/esr-sentences.json", "components/esr-documents.json"):
            return found
        mapping = found["template"]["mappings"]
        old = {k: v for k, v in mapping["properties"].items() if k not in engine._NEW_FIELDS}
        return found | {"template": {"mappings": mapping | {"properties": old}}}

    with monkeypatch.context() as patch:
        patch.setattr(resources, "load", before)
        load(where, DOCUMENTS)
    (mapping,) = http("GET", f"{where}/_mapping").values()
    assert "parse" not in mapping["mappings"]["properties"]
    with esr.open(where) as searcher:
        enrich(searcher.index)
        http("POST", f"{where}/_refresh")
        assert all(found["features"] for found in read_enrichment(searcher.index, DOCUMENTS).values())


def test_a_load_that_takes_the_place_meanwhile_is_said(where: str) -> None:
    load(where, DOCUMENTS)

    steps: list[int] = []

    def step(documents: int) -> None:
        steps.append(documents)
        if len(steps) == 10:
            load(where, DOCUMENTS, if_exists="replace")

    with (
        esr.open(where) as searcher,
        pytest.raises(EsrError, match="was loaded anew meanwhile: enrich it again"),
    ):
        enrich(searcher.index, step=step)


def test_what_was_replaced_is_merged_away(where: str) -> None:
    """A copy of a shard keeps deleted entries for its replicas for half a minute."""
    load(where, DOCUMENTS)
    with esr.open(where) as searcher:
        enrich(searcher.index)
    end = time.monotonic() + 90
    while http("GET", f"{where}/_stats/docs")["_all"]["primaries"]["docs"]["deleted"]:
        assert time.monotonic() < end
        time.sleep(2)
        http("POST", f"{where}/_forcemerge?only_expunge_deletes=true")
        http("POST", f"{where}/_refresh")


def test_what_is_refused_is_said(where: str) -> None:
    load(where, DOCUMENTS)
    http("PUT", f"{where}/_settings", {"index.blocks.write": True})
    with esr.open(where) as searcher, pytest.raises(EsrError, match=r"refused to enrich n1\.s0: .*block"):
        enrich(searcher.index)
