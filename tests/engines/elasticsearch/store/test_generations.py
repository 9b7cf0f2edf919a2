"""What is removed after a switch. What nodes tell is made up: ../test_generations.py asks real ones."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from esr.engines.elasticsearch.cluster.cluster import Cluster
from esr.engines.elasticsearch.store import generations
from esr.engines.elasticsearch.store.meta import Load
from esr.engines.generations import KEPT, SERVING
from esr.engines.index import Description


def test_what_was_switched_to_is_not_removed_where_a_node_does_not_know_of_the_switch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    how = Description("english", title=True)
    names = [f"news-{n}-esr-sentences" for n in range(3)]
    older, old, new = (Load(name, how, complete=True, owner="", members=(name,)) for name in names)
    removed: list[Load] = []

    def drop(_: Cluster, doomed: Sequence[Load]) -> None:
        removed.extend(doomed)

    monkeypatch.setattr(generations, "load_states", lambda _: [(older, KEPT), (old, SERVING), (new, KEPT)])
    monkeypatch.setattr(generations, "delete_generations", drop)
    cluster = Cluster("http://localhost:9200/news")
    cluster.close()
    generations.delete_old_generations(cluster, 0, old, new)
    assert removed == [older]
