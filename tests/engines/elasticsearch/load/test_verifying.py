"""What is looked at again. The finds are made up: tests/engines/test_cluster_chaos.py freezes real nodes."""

from __future__ import annotations

from typing import Any

import pytest

from esr.engines.elasticsearch.cluster.cluster import Cluster
from esr.engines.elasticsearch.load import verifying
from esr.engines.elasticsearch.load.verifying import Contents, verify
from esr.errors import EsrError

WANTED = Contents(documents=2, sentences=3, sum=7)


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Cluster:
    monkeypatch.setattr(verifying, "PAUSES", (0.0, 0.0))
    made = Cluster("http://localhost:9200/news")
    made.close()
    return made


def finding(monkeypatch: pytest.MonkeyPatch, *found: Contents) -> list[Contents]:
    """What is there at each look. Gives those that are left."""
    left = list(found)

    def contents(*_: Any) -> Contents:
        return left.pop(0)

    monkeypatch.setattr(verifying, "contents", contents)
    return left


def test_what_a_node_did_not_know_yet_is_looked_at_again(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, older = Contents(documents=1, sentences=3, sum=3), Contents(documents=2, sentences=1, sum=7)
    left = finding(monkeypatch, older, old, WANTED)
    verify(cluster, "news-1", WANTED)
    assert not left


def test_what_stays_missing_is_an_error(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    old = Contents(documents=1, sentences=3, sum=3)
    left = finding(monkeypatch, old, old, old, WANTED)
    with pytest.raises(EsrError, match="1 entries of 2, nothing was switched"):
        verify(cluster, "news-1", WANTED)
    assert left == [WANTED]
