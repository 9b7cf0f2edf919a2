"""Copies of indices, which deliveries change: what they take along, and what one that was killed leaves."""

from __future__ import annotations

import time
from contextlib import closing

import pytest

from esr.elastic import meta
from esr.elastic.cluster import Cluster
from esr.elastic.loads import PATIENCE, this_process
from esr.elastic.loads import time as heartbeat_time
from esr.elastic.location import DOCUMENTS, documents_index, new_sentences_index
from esr.elastic.write import delivery
from esr.elastic.write.delivery import _clone
from esr.index.factory import open_delivery
from esr.index.writer import LoadOptions
from esr.ranking.searcher import open_searcher
from tests.support.elasticsearch import all_indices, document, index_settings, load, located
from tests.support.fake_enricher import FakeEnricher
from tests.support.generation_states import states
from tests.support.stored_enrichment import enrich

pytestmark = pytest.mark.elasticsearch
NEWS = [document("a", "A flood."), document("b", "Relief came.")]
MORE = [document("c", "The river rose.")]


def deliver(where: str) -> None:
    open_delivery(where, LoadOptions()).append(located(MORE))


@pytest.mark.parametrize(("replicas", "expected"), [(None, ("0-1", "0")), (2, ("false", "2"))])
def test_a_delivery_keeps_the_number_of_replicas(
    where: str, replicas: int | None, expected: tuple[str, str]
) -> None:
    load(where, NEWS, replicas=replicas)
    deliver(where)
    for alias in (where, f"{where}-documents"):
        (settings,) = index_settings(alias)
        assert (settings["auto_expand_replicas"], settings["number_of_replicas"]) == expected


@pytest.mark.parametrize("has_documents", [True, False])
def test_a_copy_that_was_cut_off_stands_for_no_generation(
    where: str, monkeypatch: pytest.MonkeyPatch, has_documents: bool
) -> None:
    """It says of itself what the original said, as nothing else was written to it yet."""
    load(where, NEWS)
    before = all_indices(where)
    with closing(Cluster(where)) as cluster:
        (served,) = meta.searchable_loads(cluster)
        copy = new_sentences_index(cluster.alias, served.generation)
        names = [(served.index, copy), (served.documents_index, documents_index(copy))]
        for source, target in names if has_documents else names[:1]:
            cluster.client.indices.add_block(index=source, block="write")
            _clone(cluster, source, target)
    assert states(where) == ["loading", "serving"]
    now = time.time
    monkeypatch.setattr(heartbeat_time, "time", lambda: now() + PATIENCE + 1)
    assert states(where) == ["broken", "serving"]
    deliver(where)
    after = all_indices(where)
    assert set(before) < set(after) and len(after) == 4, "the copy was deleted"
    assert states(where) == ["serving", "kept"]


def test_a_copy_is_known_to_be_alive_while_its_documents_are_copied(
    where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[list[str]] = []
    real = delivery._clone

    def look_and_clone(cluster: Cluster, source: str, target: str) -> None:
        if target.endswith(DOCUMENTS):
            (copy,) = [load for load in meta.all_loads(cluster) if not load.is_complete]
            seen.append([copy.owner, str(copy.heartbeat > 0)])
        real(cluster, source, target)

    load(where, NEWS)
    monkeypatch.setattr(delivery, "_clone", look_and_clone)
    deliver(where)
    assert seen == [[this_process(), "True"]]


def test_a_delivery_keeps_what_was_enriched_after_it_began(where: str) -> None:
    load(where, NEWS)
    delivery = open_delivery(where, LoadOptions())
    with open_searcher(where) as searcher:
        assert enrich(searcher.index, FakeEnricher()).documents == len(NEWS)
    delivery.append(located(MORE))
    with open_searcher(where) as searcher:
        assert {of_part["documents"] for of_part in searcher.index.status()["enrichment"]} == {len(NEWS)}
        assert enrich(searcher.index, FakeEnricher()).documents == len(MORE)
