"""What readers cache may be cleared by another thread at any moment: they answer with what they have read."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import pytest

from esr.elastic import names, statistics
from esr.elastic import names as values
from esr.elastic.cluster import Cluster
from esr.elastic.names import NameReader, ValueReader
from esr.elastic.statistics import AliasStatistics


class _ClearedAtOnce:
    """A reader whose caches another thread finds too old as soon as something is in them."""

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if name in ("_features", "_aliases") and value is not None:
            self._expire()  # type: ignore[attr-defined]


class _ClearedStatistics(_ClearedAtOnce, AliasStatistics):
    pass


class _ClearedNames(_ClearedAtOnce, NameReader):
    pass


@pytest.fixture(autouse=True)
def expire_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (names, statistics):
        monkeypatch.setattr(module, "MAX_AGE", -1.0)


def test_features_that_are_cleared_at_once_are_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statistics, "read_features", lambda _cluster: ["length"])
    with closing(Cluster("http://localhost:9/news")) as cluster:
        assert _ClearedStatistics(cluster).features() == ["length"]


def test_aliases_that_are_cleared_at_once_are_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(names.meta, "aliased_loads", lambda _cluster: [])
    with closing(Cluster("http://localhost:9/news")) as cluster:
        assert _ClearedNames(cluster).aliases is names.NO_ALIASES


def test_keys_of_metadata_that_are_typed_do_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(values, "_read_values_of", lambda _cluster, _name: [("desk", 1)])
    with closing(Cluster("http://localhost:9/news")) as cluster:
        reader = ValueReader(cluster, is_pinned=True)
        tables = {id(reader.values(f"meta.{key}")) for key in ("desk", "DESK", "Desk", *map(str, range(50)))}
    assert len(tables) == 2
