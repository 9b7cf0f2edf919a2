"""A load whose writer this process does not see is alive as long as its heartbeat is renewed."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

import pytest

import esr
from esr.engines.elasticsearch.cluster.cluster import Cluster
from esr.engines.elasticsearch.cluster.index_names import new_sentences_index
from esr.engines.elasticsearch.load.unfinished_loads import create_indices
from esr.engines.elasticsearch.store import heartbeat, load_owner, meta
from esr.engines.elasticsearch.store.generations import delete_indices
from esr.engines.elasticsearch.store.heartbeat import Heartbeat, is_killed, is_known_alive, wait_for_end
from esr.engines.elasticsearch.store.load_owner import LoadOwner
from esr.engines.elasticsearch.store.meta import Load
from esr.engines.factory import LoadOptions, open_generations
from esr.engines.index import Description
from esr.errors import EsrError, UsageError
from tests.support.elasticsearch import document, load

OWN = LoadOwner.parse(load_owner.this_process())
ELSEWHERE = str(OWN._replace(process_space="another"))
DESCRIPTION = Description("plain", True)


def unfinished(owner: str, age: float, index: str = "news-1-esr-sentences") -> Load:
    """A load with a heartbeat of this age."""
    return Load(
        index, DESCRIPTION, is_complete=False, owner=owner, members=(index,), heartbeat=time.time() - age
    )


def test_a_load_elsewhere_is_alive_by_its_heartbeat() -> None:
    assert is_known_alive(unfinished(ELSEWHERE, 60))
    assert is_killed(unfinished(ELSEWHERE, heartbeat.PATIENCE + 1))


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
    monkeypatch.setattr(heartbeat, "INTERVAL", 0.05)
    begun = begin(cluster, str(OWN), 1000)
    with Heartbeat(cluster, begun):
        time.sleep(1)
    (stored,) = meta.read(cluster, begun.index)
    assert stored == replace(begun, heartbeat=stored.heartbeat)
    assert time.time() - stored.heartbeat < 30


def test_a_load_that_was_taken_over_ends(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heartbeat, "INTERVAL", 0.05)
    begun = begin(cluster, str(OWN), 0)
    meta.write(cluster, replace(begun, owner=ELSEWHERE))
    with pytest.raises(EsrError, match="has taken this load over"), Heartbeat(cluster, begun):
        time.sleep(1)
    assert meta.read(cluster, begun.index)[0].owner == ELSEWHERE


def test_other_loads_are_renewed_after_an_index_was_deleted(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(heartbeat, "INTERVAL", 0.05)
    deleted, begun = (begin(cluster, str(OWN), 1000) for _ in range(2))
    delete_indices(cluster, [deleted.index])
    with Heartbeat(cluster, deleted, begun):
        time.sleep(1)
    assert meta.read(cluster, begun.index)[0].heartbeat > begun.heartbeat


def test_a_load_elsewhere_is_waited_for(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has ended if it shows no sign of life for long enough, whatever its clock says."""
    monkeypatch.setattr(heartbeat, "PATIENCE", 1.0)
    monkeypatch.setattr(heartbeat, "_POLL_SECONDS", 0.05)
    in_the_future = begin(cluster, ELSEWHERE, -3600)
    assert wait_for_end(cluster, in_the_future)
    monkeypatch.setattr(heartbeat, "PATIENCE", 30.0)
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
    with esr.open(where) as searcher:
        assert searcher.index.status()["documents"] == 2
