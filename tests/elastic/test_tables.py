"""The table of vectors of an alias, where a login may not see it."""

from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any, NoReturn

import pytest
from elastic_transport import ApiResponseMeta, HttpHeaders, NodeConfig
from elasticsearch import AuthorizationException

from esr.elastic import tables


def test_a_login_that_may_not_see_the_table_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    meta = ApiResponseMeta(403, "1.1", HttpHeaders(), 0.1, NodeConfig("http", "localhost", 9200))

    def exists(index: str) -> NoReturn:
        assert index == "news-esr-table"
        raise AuthorizationException("forbidden", meta, {})

    def connect(where: str) -> Any:
        return SimpleNamespace(
            client=SimpleNamespace(indices=SimpleNamespace(exists=exists)),
            aliases=("news", "news-documents"),
            translate_errors=nullcontext,
            close=lambda: None,
        )

    monkeypatch.setattr(tables, "Cluster", connect)
    assert not tables.has_table("http://localhost:9200/news")
