"""Logins on a node with security on that speaks plain HTTP. All of these tests share one node."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from clients import esr_client
from esr.errors import EngineUnreachable, EsrError
from esr.ranking.searcher import open_searcher
from tests.conftest import without_node
from tests.elastic.test_errors import DOCUMENTS, search_and_load
from tests.support import base
from tests.support.elasticsearch import load
from tests.support.node import Cluster, NoNode
from tests.support.secured import Api
from tests.webui.test_engine_trouble import PAGES, PROGRAMS, served

pytestmark = [pytest.mark.elasticsearch, pytest.mark.endurance]


@pytest.fixture(scope="module")
def secured() -> Iterator[Cluster]:
    try:
        with Cluster.start(security=True, deadline=300) as cluster:
            yield cluster
    except NoNode as error:
        without_node(str(error))


@pytest.fixture(autouse=True)
def nobody_is_logged_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ESR_API_KEY", raising=False)


def with_login(cluster: Cluster, where: str) -> str:
    """The location with the user and the password of the superuser in it."""
    return where.replace("//", "//{}:{}@".format(*cluster.auth or ()))


def read_only_key(cluster: Cluster, alias: str) -> str:
    roles = {"reader": {"indices": [{"names": [f"{alias}*"], "privileges": ["read", "view_index_metadata"]}]}}
    return Api(cluster).key(roles)


def test_security_asks_for_a_password(secured: Cluster) -> None:
    assert secured.auth is not None
    assert secured.nodes[0].get("/")[0] == 200
    assert base.GivenNode("stranger", secured.url).get("/")[0] == 401


def test_a_login_is_required_and_a_key_that_may_read_only_searches(
    secured: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a login nothing; with a key that may read, searches only."""
    where = f"{secured.url}/news"
    for call in search_and_load(where):
        with pytest.raises(EngineUnreachable, match="requires a login: set ESR_API_KEY, or ESR_USER"):
            call()
    with pytest.raises(EngineUnreachable, match="rejects the login: check the user and password"):
        open_searcher(where.replace("//", "//nobody:wrong@"))

    assert secured.auth is not None
    full, password = with_login(secured, where), secured.auth[1]
    load(full, DOCUMENTS)
    monkeypatch.setenv("ESR_API_KEY", read_only_key(secured, "news"))
    with open_searcher(where) as searcher:
        answer = searcher.search("flood", 100)
        assert (answer.total, answer.incomplete) == (120, None)
        assert searcher.index.document("d1").id == "d1"
    login = {"Authorization": f"ApiKey {os.environ['ESR_API_KEY']}"}
    assert len(esr_client.Index(where, headers=login).search("flood", k=100)) == 100
    with pytest.raises(esr_client.EsrClientError, match="missing authentication credentials"):
        esr_client.Index(where).search("flood")
    for if_exists in ("replace", "append", "fail"):
        with pytest.raises(EsrError, match=r"denies the request: .* is unauthorized for API key"):
            load(where, DOCUMENTS, if_exists=if_exists)
    with open_searcher(full) as searcher:
        assert searcher.search("flood", 100).total == 120
        assert password not in searcher.index.where


def test_the_page_needs_only_a_key_that_may_read(secured: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    where = f"{secured.url}/page"
    load(with_login(secured, where), DOCUMENTS)
    key = read_only_key(secured, "page")
    with served(where) as connect:
        answer = connect().get("/api/v1/search?q=flood")  # nobody
        assert answer.status_code == 503
        assert secured.url not in answer.text
    monkeypatch.setenv("ESR_API_KEY", key)
    with served(where, deadline=30.0) as connect:
        client = connect()
        for address in (*PAGES, *PROGRAMS, "/", "/readyz"):
            answer = client.get(address)
            assert answer.status_code == 200, (address, answer.text)
            assert key not in answer.text
        batch = {"queries": [{"id": "1", "query": "flood"}, {"id": "2", "query": "bank"}]}
        assert client.post("/api/v1/batch", json=batch).status_code == 200
