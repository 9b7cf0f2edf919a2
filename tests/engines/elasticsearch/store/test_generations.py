"""What is deleted after a switch. The answers of nodes are made up: ../test_generations.py asks real ones."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from esr.engines.elasticsearch.cluster.cluster import Cluster
from esr.engines.elasticsearch.store import generations
from esr.engines.elasticsearch.store.meta import Load
from esr.engines.generations import KEPT, SERVING
from esr.engines.index import Description


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
