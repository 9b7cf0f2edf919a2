"""The list of generations while a load begins.

The answers are made up: tests/index/test_generations.py asks real nodes.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from esr.elastic import meta
from esr.elastic.cluster import Cluster
from esr.elastic.location import documents_index
from esr.elastic.meta import Load
from esr.elastic.write import maintenance
from esr.elastic.write.maintenance import ElasticsearchGenerations
from esr.index.generations import LOADING, SERVING
from esr.index.writer import Description

OLD, NEW = (f"news-{year}0101t000000000000-esr-sentences" for year in (2026, 2027))
SERVED, BEGUN = (Load(name, Description("plain", True), True, "", members=(name,)) for name in (OLD, NEW))


def test_an_index_that_a_load_makes_between_two_requests_has_unknown_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    open_shard = {"0": [{"routing": {"primary": True, "state": "STARTED"}}]}
    stats = {"primaries": {"docs": {"count": 3}, "store": {"size_in_bytes": 5}}, "shards": open_shard}
    earlier, later = (
        [name for index in indices for name in (index, documents_index(index))]
        for indices in ([OLD], [OLD, NEW])
    )

    def get_settings(**_: Any) -> Any:
        return {name: {"settings": {"index.number_of_shards": "1"}} for name in earlier}

    def read_stats(**_: Any) -> Any:
        return {"indices": dict.fromkeys(later, stats)}

    client = SimpleNamespace(indices=SimpleNamespace(get_settings=get_settings, stats=read_stats))
    monkeypatch.setattr(Cluster, "client", client)
    monkeypatch.setattr(Cluster, "check_version", lambda _: None)
    monkeypatch.setattr(meta, "aliased_loads", lambda _: [SERVED])
    monkeypatch.setattr(meta, "all_loads", lambda _: [SERVED, BEGUN])
    monkeypatch.setattr(maintenance, "load_states", lambda _: [(SERVED, SERVING), (BEGUN, LOADING)])
    begun, served = ElasticsearchGenerations("http://localhost:9/news").all()
    assert (begun.state, begun.documents, begun.size_bytes) == (LOADING, None, None)
    assert (served.state, served.documents, served.size_bytes) == (SERVING, 3, 10)
