"""Loads into Elasticsearch: deletion of old ones, signs of life, and owners.

A load whose writer this process cannot see is alive while its heartbeat is renewed. A process is
distinguished from others with its id, and from those of other containers. The responses of nodes are made up:
tests/index/test_generations.py asks real ones.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest

from esr.elastic import meta
from esr.elastic.cluster import Cluster
from esr.elastic.location import DOCUMENTS, SENTENCES, documents_index, new_sentences_index
from esr.elastic.meta import Load
from esr.elastic.write import delivery_parts, generations, load_owner
from esr.elastic.write.delivery_parts import clone_index
from esr.elastic.write.generations import delete_indices
from esr.elastic.write.load_owner import (
    PATIENCE,
    Heartbeat,
    LoadOwner,
    is_killed,
    is_known_alive,
    this_process,
    wait_for_end,
)
from esr.elastic.write.writer import create_indices
from esr.errors import EsrError, UsageError
from esr.index.factory import open_delivery, open_generations
from esr.index.generations import KEPT, SERVING
from esr.index.questions import Summary
from esr.index.writer import Description, LoadOptions
from esr.ranking.searcher import open_searcher
from tests.support.elasticsearch import all_indices, document, http, index_settings, load, located
from tests.support.elasticsearch import load as load_documents
from tests.support.fake_enricher import FakeEnricher
from tests.support.index_contents import enrich, read_enrichment, states
from tests.support.processes import ForkedProcess


def test_the_served_generation_is_not_deleted_when_a_node_does_not_know_of_the_switch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    description = Description("english", title=True)
    names = [f"news-{n}-esr-sentences" for n in range(3)]
    older, old, new = (Load(name, description, is_complete=True, owner="", members=(name,)) for name in names)
    deleted: list[Load] = []

    def drop(_: Cluster, heads: Sequence[Load], spared: Sequence[str] = ()) -> None:
        deleted.extend(heads)

    monkeypatch.setattr(generations, "load_states", lambda _: [(older, KEPT), (old, SERVING), (new, KEPT)])
    monkeypatch.setattr(generations, "delete_generations", drop)
    cluster = Cluster("http://localhost:9200/news")
    cluster.close()
    generations.delete_old_generations(cluster, 0, old, new)
    assert deleted == [older]


OWN = LoadOwner.parse(this_process())
ELSEWHERE = str(OWN._replace(process_space="another"))
DESCRIPTION = Description("plain", True)


def unfinished(owner: str, age: float, index: str = "news-1-esr-sentences") -> Load:
    """A load with a heartbeat of this age."""
    return Load(
        index, DESCRIPTION, is_complete=False, owner=owner, members=(index,), heartbeat=time.time() - age
    )


def test_a_load_elsewhere_is_alive_by_its_heartbeat() -> None:
    assert is_known_alive(unfinished(ELSEWHERE, 60))
    assert is_killed(unfinished(ELSEWHERE, load_owner.PATIENCE + 1))


def test_a_load_of_this_machine_is_alive_by_its_process() -> None:
    """Stopped for an hour, it is alive. Killed a second ago, it is not."""
    assert is_known_alive(unfinished(str(OWN), 3600))
    assert is_killed(unfinished(str(OWN._replace(started="1")), 1))


def test_nothing_is_known_of_a_load_without_process_and_heartbeat() -> None:
    """Those of slices, and those of older versions."""
    of_slices = replace(unfinished("8 slices", 0), heartbeat=0.0)
    assert not is_killed(of_slices) and not is_known_alive(of_slices)


@pytest.fixture
def cluster(where: str) -> Iterator[Cluster]:
    with closing(Cluster(where)) as cluster:
        yield cluster


def begin(cluster: Cluster, owner: str, age: float) -> Load:
    """A load that has begun, and does not go on."""
    begun = unfinished(owner, age, new_sentences_index(cluster.alias, meta.newest_generation(cluster)))
    create_indices(cluster, begun, LoadOptions())
    return begun


def test_the_heartbeat_is_renewed_until_the_load_ends(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(load_owner, "INTERVAL", 0.05)
    begun = begin(cluster, str(OWN), 1000)
    with Heartbeat(cluster, begun):
        time.sleep(1)
    (stored,) = meta.read(cluster, begun.index)
    assert stored == replace(begun, heartbeat=stored.heartbeat)
    assert time.time() - stored.heartbeat < 30


def test_a_load_that_was_taken_over_ends(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load_owner, "INTERVAL", 0.05)
    begun = begin(cluster, str(OWN), 0)
    meta.write(cluster, replace(begun, owner=ELSEWHERE))
    with pytest.raises(EsrError, match="has taken this load over"), Heartbeat(cluster, begun):
        time.sleep(1)
    assert meta.read(cluster, begun.index)[0].owner == ELSEWHERE


def test_other_loads_are_renewed_after_an_index_was_deleted(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(load_owner, "INTERVAL", 0.05)
    deleted, begun = (begin(cluster, str(OWN), 1000) for _ in range(2))
    delete_indices(cluster, [deleted.index])
    with Heartbeat(cluster, deleted, begun):
        time.sleep(1)
    assert meta.read(cluster, begun.index)[0].heartbeat > begun.heartbeat


def test_a_load_elsewhere_is_waited_for(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has ended if it shows no sign of life for long enough, whatever its clock says."""
    monkeypatch.setattr(load_owner, "PATIENCE", 1.0)
    monkeypatch.setattr(load_owner, "POLL_SECONDS", 0.05)
    in_the_future = begin(cluster, ELSEWHERE, -3600)
    assert wait_for_end(cluster, in_the_future)
    monkeypatch.setattr(load_owner, "PATIENCE", 30.0)
    renewal = threading.Timer(0.5, meta.write, (cluster, replace(in_the_future, heartbeat=time.time())))
    renewal.start()
    assert not wait_for_end(cluster, in_the_future)
    renewal.join()


def test_what_a_killed_container_left_is_broken_and_goes(where: str, cluster: Cluster) -> None:
    """Its name was that of this machine, as names in compose files are."""
    load(where, [document("d1", "A flood.")])
    alive, killed = begin(cluster, ELSEWHERE, 10), begin(cluster, ELSEWHERE, 1000)
    with closing(open_generations(where)) as at:
        states = {generation.name: (generation.state, generation.host) for generation in at.all()}
        assert states[alive.generation] == ("loading", OWN.host)
        assert states[killed.generation] == ("broken", "")
        with pytest.raises(UsageError, match="is being written by a load"):
            at.delete([alive.generation])
        load(where, [document("d2", "A river.")], if_exists="append")
        assert {killed.generation, alive.generation} & {each.name for each in at.all()} == {alive.generation}
    with open_searcher(where) as searcher:
        assert searcher.index.status(Summary())["documents"] == 2


def test_this_process_is_near_and_running() -> None:
    assert (OWN.process_id, OWN.is_near, OWN.is_running) == (os.getpid(), True, True)


@pytest.mark.parametrize("text", ["a:b-4026531836:17:99", "fe80::1:b-4026531836:17:99", "8 slices:::0:"])
def test_an_owner_is_read_as_it_was_written(text: str) -> None:
    assert str(LoadOwner.parse(text)) == text


def test_a_process_that_has_ended_is_not_running() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    assert not OWN._replace(process_id=process.pid).is_running


def test_a_process_with_the_same_id_is_another_one() -> None:
    """In a container that is started again the loader has the process id of the killed one."""
    assert not OWN._replace(started="1").is_running


@pytest.mark.parametrize(
    "owner",
    [OWN._replace(process_space="another"), LoadOwner("8 slices"), LoadOwner.parse("old:17:0a1b2c3d")],
)
def test_the_name_of_the_host_makes_nobody_near(owner: LoadOwner) -> None:
    """Containers may have one name, and each has a process 1."""
    assert not owner._replace(host=OWN.host).is_near


# A copy of an index searches as the original does, or Elasticsearch refuses to make it and says why.


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


@pytest.mark.elasticsearch
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


@pytest.mark.elasticsearch
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


# Copies of indices, which deliveries change: what they take along, and what one that was killed leaves.


DELIVERY_NEWS = [document("a", "A flood."), document("b", "Relief came.")]
MORE = [document("c", "The river rose.")]


def deliver(where: str) -> None:
    open_delivery(where, LoadOptions()).append(located(MORE))


@pytest.mark.elasticsearch
@pytest.mark.parametrize(("replicas", "expected"), [(None, ("0-1", "0")), (2, ("false", "2"))])
def test_a_delivery_keeps_the_number_of_replicas(
    where: str, replicas: int | None, expected: tuple[str, str]
) -> None:
    load(where, DELIVERY_NEWS, replicas=replicas)
    deliver(where)
    for alias in (where, f"{where}-documents"):
        (settings,) = index_settings(alias)
        assert (settings["auto_expand_replicas"], settings["number_of_replicas"]) == expected


@pytest.mark.elasticsearch
def test_a_delivery_lifts_only_the_write_blocks_that_it_set(where: str) -> None:
    load(where, DELIVERY_NEWS)
    (blocked,) = http("GET", where)
    http("PUT", f"{where}/_block/write")
    deliver(where)
    url = where.rpartition("/")[0]
    for index, is_blocked in [
        (blocked, True),
        (documents_index(blocked), False),
        *((copy, False) for alias in (where, f"{where}-documents") for copy in http("GET", alias)),
    ]:
        (settings,) = index_settings(f"{url}/{index}")
        assert (settings.get("blocks", {}).get("write") == "true") == is_blocked, index


def deliver_until_copied(where: str, kind: str) -> None:
    """A delivery that is killed when it has copied the index of sentences, or of documents."""
    real = delivery_parts.clone_index

    def clone_and_die(cluster: Cluster, source: str, target: str) -> None:
        real(cluster, source, target)
        if target.endswith(kind):
            os.kill(os.getpid(), signal.SIGKILL)

    delivery_parts.clone_index = clone_and_die
    deliver(where)


def list_blocked(where: str) -> list[str]:
    """The indices of a place, served or not, that accept no writes."""
    url = where.rpartition("/")[0]
    settings = {name: index_settings(f"{url}/{name}")[0] for name in all_indices(where)}
    return [name for name, own in settings.items() if own.get("blocks", {}).get("write") == "true"]


@pytest.mark.elasticsearch
@pytest.mark.parametrize("kind", [SENTENCES, DOCUMENTS])
def test_the_write_blocks_of_a_killed_delivery_are_lifted_by_the_next_one(where: str, kind: str) -> None:
    load(where, DELIVERY_NEWS)
    assert ForkedProcess(deliver_until_copied, where, kind).wait() == -signal.SIGKILL
    assert len(list_blocked(where)) == 2
    deliver(where)
    assert list_blocked(where) == []


@pytest.mark.elasticsearch
def test_an_index_can_be_enriched_after_a_killed_delivery(where: str) -> None:
    load(where, DELIVERY_NEWS)
    assert ForkedProcess(deliver_until_copied, where, SENTENCES).wait() == -signal.SIGKILL
    with open_searcher(where) as searcher:
        enrich(searcher.index)
    assert list_blocked(where) == []


@pytest.mark.elasticsearch
def test_a_delivery_says_that_another_one_has_lifted_the_write_block(
    where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other one blocked writes before this one, which took the block for that of an operator."""
    load(where, DELIVERY_NEWS)
    before, real = all_indices(where), delivery_parts.clone_index

    def unblock_and_clone(cluster: Cluster, source: str, target: str) -> None:
        http("PUT", f"{where.rpartition('/')[0]}/{source}/_settings", {"index.blocks.write": None})
        real(cluster, source, target)

    monkeypatch.setattr(delivery_parts, "clone_index", unblock_and_clone)
    with pytest.raises(EsrError, match=r"another delivery to .* at the same time: nothing was changed, run"):
        deliver(where)
    assert all_indices(where) == before


@pytest.mark.elasticsearch
@pytest.mark.parametrize("has_documents", [True, False])
def test_a_copy_that_was_cut_off_stands_for_no_generation(
    where: str, monkeypatch: pytest.MonkeyPatch, has_documents: bool
) -> None:
    """It says of itself what the original said, as nothing else was written to it yet."""
    load(where, DELIVERY_NEWS)
    before = all_indices(where)
    with closing(Cluster(where)) as cluster:
        (served,) = meta.searchable_loads(cluster)
        copy = new_sentences_index(cluster.alias, served.generation)
        names = [(served.index, copy), (served.documents_index, documents_index(copy))]
        for source, target in names if has_documents else names[:1]:
            cluster.client.indices.add_block(index=source, block="write")
            clone_index(cluster, source, target)
    assert states(where) == ["loading", "serving"]
    now = time.time
    monkeypatch.setattr(load_owner.time, "time", lambda: now() + PATIENCE + 1)
    assert states(where) == ["broken", "serving"]
    deliver(where)
    after = all_indices(where)
    assert set(before) < set(after) and len(after) == 4, "the copy was deleted"
    assert states(where) == ["serving", "kept"]


@pytest.mark.elasticsearch
def test_a_copy_is_known_to_be_alive_while_its_documents_are_copied(
    where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[list[str]] = []
    real = delivery_parts.clone_index

    def look_and_clone(cluster: Cluster, source: str, target: str) -> None:
        if target.endswith(DOCUMENTS):
            (copy,) = [load for load in meta.all_loads(cluster) if not load.is_complete]
            seen.append([copy.owner, str(copy.heartbeat > 0)])
        real(cluster, source, target)

    load(where, DELIVERY_NEWS)
    monkeypatch.setattr(delivery_parts, "clone_index", look_and_clone)
    deliver(where)
    assert seen == [[this_process(), "True"]]


@pytest.mark.elasticsearch
def test_a_delivery_keeps_what_was_enriched_after_it_began(where: str) -> None:
    load(where, DELIVERY_NEWS)
    delivery = open_delivery(where, LoadOptions())
    with open_searcher(where) as searcher:
        assert enrich(searcher.index, FakeEnricher()).documents == len(DELIVERY_NEWS)
    delivery.append(located(MORE))
    with open_searcher(where) as searcher:
        assert {of_part["documents"] for of_part in searcher.index.status(Summary())["enrichment"]} == {
            len(DELIVERY_NEWS)
        }
        assert enrich(searcher.index, FakeEnricher()).documents == len(MORE)
