"""When contents are checked again. They are made up: test_cluster_chaos.py freezes real nodes."""

from __future__ import annotations

from typing import Any

import pytest

from esr.elastic.cluster import Cluster
from esr.elastic.write import verification
from esr.elastic.write.verification import IndexContents, verify
from esr.errors import EsrError

EXPECTED = IndexContents(documents=2, sentences=3, sum=7)


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Cluster:
    monkeypatch.setattr(verification, "PAUSES", (0.0, 0.0))
    cluster = Cluster("http://localhost:9200/news")
    cluster.close()
    return cluster


def answer_with(monkeypatch: pytest.MonkeyPatch, *answers: IndexContents) -> list[IndexContents]:
    """Makes these the contents of one check after another. Returns those that are left."""
    left = list(answers)

    def contents(*_: Any) -> IndexContents:
        return left.pop(0)

    monkeypatch.setattr(verification, "read_contents", contents)
    return left


def test_a_difference_is_checked_again_since_a_node_may_be_out_of_date(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, older = (
        IndexContents(documents=1, sentences=3, sum=3),
        IndexContents(documents=2, sentences=1, sum=7),
    )
    left = answer_with(monkeypatch, older, old, EXPECTED)
    verify(cluster, "news-1", EXPECTED)
    assert not left


def test_a_difference_that_remains_is_an_error(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    old = IndexContents(documents=1, sentences=3, sum=3)
    left = answer_with(monkeypatch, old, old, old, EXPECTED)
    with pytest.raises(EsrError, match="1 entries instead of 2, nothing was switched"):
        verify(cluster, "news-1", EXPECTED)
    assert left == [EXPECTED]
