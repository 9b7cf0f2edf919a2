"""What a request needs to read vectors from Elasticsearch. tests/index/test_meaning_parity.py stores some."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from esr.elastic.cluster import Cluster
from esr.elastic.dialect import ELASTICSEARCH
from esr.elastic.meta import Load
from esr.elastic.vectors import EncoderReader
from esr.enrichment.recipe import Recipe
from esr.errors import EngineUnreachable
from esr.index.writer import Description
from esr.text.sentence_enrichment import VECTORS
from tests.support.web_servers import answer, serving

INDEX = "news-20240101t000000000000-esr-sentences"
LOAD = Load(INDEX, Description("english", title=True), is_complete=True, owner="", members=(INDEX,))
ELASTIC, OPENSEARCH = {"X-Elastic-Product": "Elasticsearch"}, {"X-OpenSearch-Version": "OpenSearch/3.9.0"}
OPTION = "exclude_vectors"
FOUND = {"_shards": {"total": 1, "failed": 0}, "hits": {"hits": []}, "timed_out": False}


class Server(ThreadingHTTPServer):
    """Answers searches and requests for mappings. `version` is told to those who may ask: None to nobody.

    `knows_option`: whether a search may ask for vectors, as in Elasticsearch 9.2.
    """

    def __init__(self, headers: dict[str, str], version: str | None, knows_option: bool) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.headers, self.version, self.knows_option = headers, version, knows_option
        self.is_busy = False
        self.load = LOAD


class _Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
        if self.path == "/" and self.server.version:
            self._answer(200, {"version": {"number": self.server.version}})
        elif self.path == "/":
            self._refuse(403, "action [cluster:monitor/main] is unauthorized for API key")
        elif "_mapping" in self.path:
            meta = self.server.load.as_meta(ELASTICSEARCH)
            self._answer(200, {INDEX: {"mappings": {"_meta": meta, "properties": {}}}})
        elif self.server.is_busy:
            self._refuse(429, "too many requests")
        elif OPTION in body.get("_source", {}) and not self.server.knows_option:
            self._refuse(400, f"Unknown key for a VALUE_BOOLEAN in [{OPTION}].")
        else:
            self._answer(200, FOUND)

    do_POST = do_GET

    def _refuse(self, status: int, reason: str) -> None:
        self._answer(status, {"error": {"type": "refused", "reason": reason}, "status": status})

    def _answer(self, status: int, body: Any) -> None:
        answer(json.dumps(body), status, "application/json", **self.server.headers)(self)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    with serving(Server(*request.param)) as server:
        yield server


@pytest.fixture
def reader(server: Server) -> Iterator[EncoderReader]:
    with closing(Cluster(f"http://127.0.0.1:{server.server_address[1]}/news")) as cluster:
        yield EncoderReader(cluster)


@pytest.mark.parametrize(
    ("server", "asks"),
    [
        ((ELASTIC, "9.4.0", True), True),
        ((ELASTIC, "9.1.5", False), False),
        ((ELASTIC, None, True), True),
        ((ELASTIC, None, False), False),
        ((OPENSEARCH, None, False), False),
    ],
    indirect=["server"],
)
def test_vectors_are_read_by_a_login_that_may_only_search(reader: EncoderReader, asks: bool) -> None:
    """Its key has no privilege on the cluster, so it may not ask for the version."""
    assert reader.source(["enriched"]) == {"includes": ["enriched"], **({OPTION: False} if asks else {})}


@pytest.mark.parametrize("server", [(ELASTIC, None, True)], indirect=True)
def test_a_busy_server_says_nothing_about_vectors(server: Server, reader: EncoderReader) -> None:
    server.is_busy = True
    with pytest.raises(EngineUnreachable, match="overloaded or not ready"):
        reader.source(["enriched"])
    server.is_busy = False
    assert reader.source(["enriched"]) == {"includes": ["enriched"], OPTION: False}


@pytest.mark.parametrize("server", [(ELASTIC, "9.4.0", True)], indirect=True)
def test_first_vectors_are_found_by_who_has_just_seen_that_there_are_none(
    server: Server, reader: EncoderReader
) -> None:
    """As a table is fitted to vectors that were stored a moment ago."""
    recipe = Recipe((VECTORS,), {"encoder": "tiny"})
    assert (reader.main_encoder(), reader.fingerprints("tiny")) == (None, [])
    server.load = replace(LOAD, recipes={recipe.digest: recipe.as_dict()})
    assert reader.fingerprints("tiny") == [recipe.fingerprints[VECTORS]]
    assert reader.origins("tiny") == {recipe.fingerprints[VECTORS]: ""}
