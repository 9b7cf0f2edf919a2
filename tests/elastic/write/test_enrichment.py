from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing
from copy import deepcopy

import pytest

from esr import resources
from esr.elastic.cluster import Cluster
from esr.elastic.meta import install_templates
from esr.elastic.write import enrichment as engine
from esr.elastic.write.enrichment import replace_parts, send_updates
from esr.enrichment.recipe import Recipe
from esr.errors import EngineUnreachable, EsrError
from esr.ranking.searcher import open_searcher
from tests.support.elasticsearch import document, http, load
from tests.support.fake_enricher import FakeEnricher
from tests.support.stored_enrichment import enrich, read_enrichment

DOCUMENTS = [document(f"n{n}", *(f"storm {n} {m}" for m in range(n % 4))) for n in range(25)]


def test_slices_share_no_document_and_omit_none(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "_PAGE", 3)
    load(where, DOCUMENTS[:20], shards=3)
    load(where, DOCUMENTS[20:], if_exists="append")
    enriched_ids: list[str] = []
    with open_searcher(where) as searcher:
        for number in (2, 3, 1):
            enricher = FakeEnricher()
            report = enrich(searcher.index, enricher, slice=(number, 3))
            assert len(enricher.enriched_ids) in (8, 9)
            enriched_ids += enricher.enriched_ids
            assert report.notes[0].startswith(
                "Elasticsearch is merging" if number == 1 else f"{25 - len(enriched_ids)} of 25"
            )
    assert sorted(enriched_ids) == sorted(d.id for d in DOCUMENTS)


def test_each_index_has_the_recipe(where: str) -> None:
    load(where, DOCUMENTS[:20])
    load(where, DOCUMENTS[20:], if_exists="append")
    with open_searcher(where) as searcher:
        enrich(searcher.index)
    recipe = FakeEnricher().recipe
    mappings = http("GET", f"{where}/_mapping")
    assert len(mappings) == 2
    for index in mappings.values():
        meta = index["mappings"]["_meta"]["esr"]
        assert Recipe.from_dict(meta["recipes"][recipe.digest]) == recipe
        assert meta["complete"] and meta["analyzer"] == "english-stem"


@pytest.fixture
def old_templates(where: str) -> Iterator[None]:
    """Templates without the fields of enrichment, for the indices of `where` alone.

    Those of esr serve all tests of the node at once, and each load puts them again.
    """
    url, _, alias = where.rpartition("/")
    with closing(Cluster(where)) as cluster:
        install_templates(cluster)
    created = []
    try:
        for kind in ("sentences", "documents"):
            component = deepcopy(resources.load_json(f"components/esr-{kind}.json"))
            properties = component["template"]["mappings"]["properties"]
            for name in engine._ENRICHMENT_FIELDS & properties.keys():
                del properties[name]
            template = deepcopy(resources.load_json(f"indices/esr-{kind}.json"))
            template["index_patterns"] = [f"{alias}-*-esr-{kind}"]
            template["priority"] += 1
            template["composed_of"] = [
                f"{alias}-{kind}" if name == f"esr-{kind}" else name for name in template["composed_of"]
            ]
            for path, body in (
                (f"_component_template/{alias}-{kind}", component),
                (f"_index_template/{alias}-{kind}", template),
            ):
                http("PUT", f"{url}/{path}", body)
                created.append(path)
        yield
    finally:
        for path in reversed(created):
            http("DELETE", f"{url}/{path}")


@pytest.mark.usefixtures("old_templates")
def test_an_index_made_before_enrichment_gets_the_fields(where: str) -> None:
    load(where, DOCUMENTS)
    for mapping in http("GET", f"{where}/_mapping").values():
        assert not engine._ENRICHMENT_FIELDS & mapping["mappings"]["properties"].keys()
    with open_searcher(where) as searcher:
        enrich(searcher.index)
        http("POST", f"{where}/_refresh")
        assert all(enriched["features"] for enriched in read_enrichment(searcher.index, DOCUMENTS).values())


def test_a_load_that_replaces_the_index_meanwhile_is_reported(where: str) -> None:
    load(where, DOCUMENTS)

    steps: list[int] = []

    def step(documents: int) -> None:
        steps.append(documents)
        if len(steps) == 10:
            load(where, DOCUMENTS, if_exists="replace")

    with (
        open_searcher(where) as searcher,
        pytest.raises(EsrError, match=r"a load replaced .* meanwhile: enrich it again"),
    ):
        enrich(searcher.index, on_progress=step)


def test_replaced_entries_are_merged_away(where: str) -> None:
    """A copy of a shard keeps deleted entries for its replicas for half a minute."""
    load(where, DOCUMENTS)
    with open_searcher(where) as searcher:
        enrich(searcher.index)
    end = time.monotonic() + 90
    while http("GET", f"{where}/_stats/docs")["_all"]["primaries"]["docs"]["deleted"]:
        assert time.monotonic() < end
        time.sleep(2)
        http("POST", f"{where}/_forcemerge?only_expunge_deletes=true")
        http("POST", f"{where}/_refresh")


def test_an_index_that_accepts_no_writes_is_reported(where: str) -> None:
    load(where, DOCUMENTS)
    http("PUT", f"{where}/_settings", {"index.blocks.write": True})
    with (
        open_searcher(where) as searcher,
        pytest.raises(EngineUnreachable, match=r"accepts no writes: .*block.*; .*remove its setting"),
    ):
        enrich(searcher.index)


def test_a_rejected_entry_is_reported(where: str) -> None:
    load(where, DOCUMENTS)
    with closing(Cluster(where)) as cluster:
        unknown = replace_parts(cluster.alias, "nobody", ["features:1"], {"features": {"x": 1.0}})
        with pytest.raises(EsrError, match=r"rejected the enrichment of nobody: .*missing"):
            send_updates(cluster, [unknown])
