"""The page and the API over a real node that hangs, is killed or answers partly."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest
from flask.testing import FlaskClient

from esr.elastic.cluster import Cluster
from esr.elastic.search import counts, plan_query
from esr.text.document import Document, ParseWord, Sentence
from tests.support.elasticsearch import (
    document,
    fresh,
    http,
    indices,
    load,
    make_failing_load,
    record_timeouts,
)
from tests.support.processes import wait_until
from webui.app import READY_SECONDS, create_app
from webui.running.gate import CircuitBreaker
from webui.running.served_indexes import ServedIndexes
from webui.running.settings import Settings

DEADLINE = 2.0
PATIENCE = 30.0
"""Seconds after which a server hangs, however busy the machine is."""
DOCUMENTS = [document(f"d{n}", f"A flood in town {n}.", "A river.", "The bank of it.") for n in range(40)]
PAGES = (
    "/search?q=flood",
    "/search?q=flood&group=document",
    "/document?id=d1&q=flood",
    "/explain?id=d1.s0&q=flood",
    "/compare?q=flood&vs.model=bm25",
)
SEARCHES = ("/search?q=flood", "/api/v1/search?q=flood", "/search.json?q=flood")
"""As many as there are failures that open the breaker."""
PROGRAMS = (
    "/api/v1/search?q=flood",
    "/api/v1/document?id=d1&q=flood",
    "/api/v1/explain?id=d1.s0&q=flood",
    "/api/v1/compare?q=flood&vs.model=bm25",
    "/api/v1/query?q=flood",
    "/api/v1/status",
)


class Clock:
    """The clock of a breaker, which a test can stop."""

    stopped_at: float | None = None

    def __call__(self) -> float:
        return time.monotonic() if self.stopped_at is None else self.stopped_at

    @contextmanager
    def stop(self) -> Iterator[None]:
        self.stopped_at = time.monotonic()
        yield
        self.stopped_at = None


@contextmanager
def served(
    where: str, deadline: float = DEADLINE, clock: Callable[[], float] = time.monotonic
) -> Iterator[Callable[[], FlaskClient]]:
    """Makes clients of a server over the location."""
    limits = Settings(deadline=deadline)
    indexes = ServedIndexes.at({"news": where}, limits)
    indexes.by_name["news"].gate.breaker = CircuitBreaker(deadline, clock)
    app = create_app(indexes, limits)
    try:
        yield app.test_client
    finally:
        indexes.close()


def timed(client: FlaskClient, address: str) -> tuple[int, str, float]:
    started = time.monotonic()
    answer = client.get(address)
    return answer.status_code, answer.text, time.monotonic() - started


def recovers(client: FlaskClient, address: str) -> None:
    wait_until(lambda: client.get(address).status_code == 200, f"an answer of {address}")


@pytest.mark.endurance
def test_an_engine_that_hangs_or_dies_is_reported_in_time_and_used_again(
    start_elasticsearch: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = start_elasticsearch()
    node, clock = cluster.nodes[0], Clock()
    where = f"{cluster.url}/news"
    load(where, DOCUMENTS)
    with served(where, clock=clock) as connect:
        client = connect()
        for address in (*PAGES, *PROGRAMS, "/", "/readyz"):
            recovers(client, address)  # a node that has just started is slow

        node.pause()
        timeouts = record_timeouts(monkeypatch)
        with clock.stop():
            for failures, address in enumerate(SEARCHES, 1):
                status, text, seconds = timed(client, address)
                assert status == 503
                assert "The search engine is not responding" in text or '"code":"engine_unreachable"' in text
                assert cluster.url not in text
                assert seconds < PATIENCE, address
                assert len(timeouts) >= failures, "a page also asks beside its search"
            assert all(0 < timeout <= DEADLINE for timeout in timeouts)
            timeouts.clear()
            assert client.get("/search?q=flood").status_code == 503
            assert "is not responding" in client.get("/").text
            assert client.get("/healthz").status_code == 200
            assert timeouts == []  # the breaker is open
            answer = client.get("/readyz")
            assert (answer.status_code, answer.get_json()["indexes"]) == (503, {"news": "engine_unreachable"})
            assert all(0 < timeout <= READY_SECONDS for timeout in timeouts)
        with ThreadPoolExecutor(30) as pool:
            answers = list(pool.map(lambda n: timed(connect(), f"/search.json?q=flood+{n}"), range(60)))
        assert {status for status, _, _ in answers} == {503}
        assert max(seconds for *_, seconds in answers) < PATIENCE

        node.resume()
        for address in (*PAGES, *PROGRAMS, "/", "/readyz"):
            recovers(client, address)
        node.kill()
        status, text, seconds = timed(client, "/api/v1/search?q=flood")
        assert status == 503
        assert seconds < PATIENCE
        assert client.get("/healthz").status_code == 200


def test_an_incomplete_answer_says_so(elasticsearch_url: str) -> None:
    with fresh(elasticsearch_url) as where:
        load(where, DOCUMENTS)
        url, _, _ = where.rpartition("/")
        actions = make_failing_load(where, "0-broken")
        with served(where) as connect:
            client = connect()
            recovers(client, "/search.json?q=flood")  # a node that has just started is slow
            assert client.get("/search.json?q=flood").get_json()["incomplete"] is None
            http("POST", f"{url}/_aliases", {"actions": actions})
            found = client.get("/search.json?q=flood").get_json()
            assert found["incomplete"] == "1 of 2 shards failed"
            assert len(found["hits"]) == 10
            page = client.get("/search?q=flood")
            assert page.status_code == 200
            assert "This answer is incomplete." in page.text
            several = client.post("/batch", data={"queries": "flood"})
            assert several.status_code == 503
            assert "1 of 2 shards failed" in several.text
            taken = client.post("/batch", data={"queries": "flood", "anyhow": "yes"})
            assert taken.status_code == 200 and "1 of 2 shards failed" in taken.text
            assert "1 of 2 shards failed" in page.text


def test_the_server_is_not_ready_without_the_stored_scripts_or_with_an_index_of_another_format(
    elasticsearch_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with fresh(elasticsearch_url) as where:
        load(where, DOCUMENTS[:2])
        with served(where) as connect:
            client = connect()

            def readiness() -> Any:
                answer = client.get("/readyz")
                return answer.status_code, answer.get_json()["indexes"]["news"]

            assert readiness() == (200, "ok")
            for gone in plan_query.SCRIPTS:
                scripts = ["esr-gone-v1" if script == gone else script for script in plan_query.SCRIPTS]
                with monkeypatch.context() as patch:
                    patch.setattr(plan_query, "SCRIPTS", scripts)
                    assert readiness() == (503, "index_unusable"), gone
            with monkeypatch.context() as patch:
                patch.setattr("esr.elastic.meta.FORMAT", 99)
                assert readiness() == (503, "index_unusable")
            assert readiness() == (200, "ok")
            url, _, alias = where.rpartition("/")
            for index in indices(url, alias):
                http("DELETE", f"{url}/{index}")
            assert readiness() == (503, "index_missing")


WORD = "zyxwvword"


def holders(body: Any, path: str = "") -> Iterator[str]:
    """The paths in a request under which the word of the query stands."""
    if isinstance(body, dict):
        for name, value in body.items():
            assert WORD not in name
            yield from holders(value, f"{path}.{name}")
    elif isinstance(body, list):
        for value in body:
            yield from holders(value, path)
    elif isinstance(body, str) and WORD in body:
        yield path


def test_words_of_a_query_reach_elasticsearch_only_as_terms(
    elasticsearch_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from elastic_transport import Transport

    sent: list[tuple[str, Any]] = []
    perform = Transport.perform_request

    def watched(self: Transport, method: str, target: str, *args: Any, **kwargs: Any) -> Any:
        sent.append((target, kwargs.get("body")))
        return perform(self, method, target, *args, **kwargs)

    monkeypatch.setattr(Transport, "perform_request", watched)
    with fresh(elasticsearch_url) as where:
        parse = (ParseWord("A", 2), ParseWord(WORD, 2), ParseWord("flood", -1), ParseWord(".", 2))
        first = Sentence("x.s0", f"A {WORD} flood.", parse=parse)
        load(where, [*DOCUMENTS[:3], Document("x", (first, Sentence("x.s1", "Then more.")))])
        with served(where) as connect:
            client = connect()
            sent.clear()
            rankings = ("", "&model=bm25", "&model=3mm&candidates=all", "&feature=len:log:0.1&rerank=mrf_sdm")
            for query in (
                f'"{WORD}+flood"',
                f"-{WORD}+flood",
                f"{WORD}+flood",
                f"{WORD}*",
                f"{WORD}')+OR+(_id:*",
                f"%7B%7B{WORD}%7D%7D",
            ):
                for setting in rankings:
                    assert client.get(f"/search?q={query}{setting}").status_code == 200
                for path in ("/explain?id=x.s0&", "/document?id=x&", "/compare?vs.model=bm25&"):
                    assert client.get(f"{path}q={query}").status_code == 200
            raw = client.get(f"/api/v1/query?q={WORD}").get_json()
    searched = [(target, body) for target, body in sent if body is not None]
    paths = {path for _, body in searched for each in lines(body) for path in holders(each)}
    paths |= set(holders(raw))
    assert paths
    for path in paths:
        assert re.search(r"\.(term|terms|match|match_phrase|prefix|suggest)\.[a-z_.]+$", path), path
        assert not {"script", "params", "source"} & set(path.split("."))
    everything = json.dumps([body for _, body in searched if not isinstance(body, str | bytes)] + [raw])
    assert "query_string" not in everything
    assert '"source": "' not in everything
    assert all(WORD not in target for target, _ in sent)


def lines(body: Any) -> list[Any]:
    """The parts of a body: one, or those of a request that has several."""
    if isinstance(body, str | bytes):
        return [json.loads(line) for line in body.splitlines() if line.strip()]
    return list(body) if isinstance(body, list | tuple) else [body]


def test_a_page_asks_again_only_for_what_may_have_changed(
    elasticsearch_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither where the alias leads, which the search confirms, nor what is spelled alike in a generation."""
    asked: list[str] = []

    def record(owner: Any, name: str, argument: str = "") -> None:
        method = getattr(owner, name)

        def call(*given: Any, **named: Any) -> Any:
            if not argument or argument in named:
                asked.append(name)
            return method(*given, **named)

        monkeypatch.setattr(owner, name, call)

    with fresh(elasticsearch_url) as where, served(where, 60.0) as connect:
        load(where, DOCUMENTS)
        client = connect()
        page = "/search?q=flod+river"
        first = client.get(page).text
        record(Cluster, "look_up_targets")
        record(counts, "search", "suggest")  # for similar words
        assert client.get(page).text.count(">flood") == first.count(">flood") > 0
        assert not asked
        new = [document(f"n{n}", f"A new fold {n}.", f"A new river {n}.") for n in range(9)]
        load(where, new, if_exists="replace")
        asked.clear()
        later = client.get(page).text
        assert "new <mark>river" in later and ">fold" in later and ">flood" not in later
        assert {*asked} == {"look_up_targets", "search"}
