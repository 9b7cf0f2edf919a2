from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from esr.engines.elasticsearch.cluster.cluster import Cluster
from esr.engines.elasticsearch.index import ElasticsearchIndex
from esr.engines.elasticsearch.maintenance.delivery import ElasticsearchDelivery
from esr.engines.elasticsearch.maintenance.generations import ElasticsearchGenerations
from esr.engines.elasticsearch.maintenance.priors import ElasticsearchPriors
from esr.engines.options import LoadOptions
from esr.errors import EngineUnreachable


@pytest.mark.parametrize(
    "open_index",
    [
        ElasticsearchIndex,
        ElasticsearchGenerations,
        ElasticsearchPriors,
        lambda where: ElasticsearchDelivery(where, LoadOptions()),
    ],
)
def test_an_index_that_does_not_open_leaves_no_connections(
    open_index: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    closed: list[Cluster] = []
    monkeypatch.setattr(Cluster, "close", lambda cluster: closed.append(cluster))
    with pytest.raises(EngineUnreachable):
        open_index("http://localhost:9/news")
    assert len(closed) == 1
