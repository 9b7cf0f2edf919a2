"""What is looked at again. The finds are made up: tests/engines/test_cluster_chaos.py freezes real nodes."""

from __future__ import annotations

from typing import Any

import pytest

from esr.engines.elasticsearch.cluster.cluster import Cluster
from esr.engines.elasticsearch.load import verification
from esr.engines.elasticsearch.load.verification import IndexContents, verify
from esr.errors import EsrError

WANTED = IndexContents(documents=2, sentences=3, sum=7)


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Cluster:
    monkeypatch.setattr(verification, "PAUSES", (0.0, 0.0))
    made = Cluster("http://localhost:9200/news")
    made.close()
    return made


def finding(monkeypatch: pytest.MonkeyPatch, *found: IndexContents) -> list[IndexContents]:
    """What is there at each look. Gives those that are left."""
    left = list(found)

    def contents(*_: Any) -> IndexContents:
        return left.pop(0)

    monkeypatch.setattr(verification, "read_contents", contents)
    return left


def test_what_a_node_did_not_know_yet_is_looked_at_again(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, older = (
        IndexContents(documents=1, sentences=3, sum=3),
        IndexContents(documents=2, sentences=1, sum=7),
    )
    left = finding(monkeypatch, older, old, WANTED)
    verify(cluster, "news-1", WANTED)
    assert not left


def test_what_stays_missing_is_an_error(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    old = IndexContents(documents=1, sentences=3, sum=3)
    left = finding(monkeypatch, old, old, old, WANTED)
    with pytest.raises(EsrError, match="1 entries instead of 2, nothing was switched"):
        verify(cluster, "news-1", WANTED)
    assert left == [WANTED]
