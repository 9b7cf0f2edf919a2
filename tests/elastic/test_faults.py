"""A bad network, a full disk, a write block: success after recovery, or an error that says what to do."""

from __future__ import annotations

import contextlib
import random
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from copy import deepcopy
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

import pytest
from elasticsearch import Elasticsearch

from esr import resources
from esr.elastic import requests
from esr.elastic.write import actions, bulk, delivery, delivery_parts, writer
from esr.errors import EngineUnreachable, EsrError
from esr.index.factory import open_delivery as delivery_to
from esr.index.factory import open_generations
from esr.index.questions import Summary
from esr.index.writer import LoadOptions
from esr.ranking.searcher import open_searcher
from tests.index.test_parity import random_documents
from tests.support.elasticsearch import document, http, indices, load, located
from tests.support.index_contents import index_contents
from tests.support.runs import IS_LONG, only_long

# A TCP proxy that does to connections what bad networks do.


CHUNK = 65_536
HARMS = ("drop", "delay", "cut", "lose", "duplicate")
"""Bytes that never arrive; that arrive late; a connection that is cut before the request arrives, or after
it, so that the answer is lost; a request that arrives twice."""


class Proxy:
    """Listens on a port of its own and passes on to another, until it is told to do `harm`.

    `harm` is one of HARMS or a mix of them, done to a `share` of what clients send. `url` is where to go.
    """

    def __init__(self, host: str, port: int, seed: int = 0) -> None:
        self._to = host, port
        self._chance = random.Random(seed)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._open: list[socket.socket] = []
        self._lock = threading.Lock()
        self.harm: tuple[str, ...] = ()
        self.share = 0.0
        self.done: list[str] = []
        self._thread = threading.Thread(target=self._accept, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        with self._lock:
            for each in self._open:
                _cut(each)
        self._thread.join(5)

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            try:
                pair = client, self._connected()
            except OSError:
                client.close()
                continue
            with self._lock:
                self._open += pair
            self._start(lambda pair=pair: self._requests(*pair))
            self._start(lambda pair=pair: self._answers(*pair))

    def _connected(self) -> socket.socket:
        return socket.create_connection(self._to, timeout=60)

    @staticmethod
    def _start(work: Callable[[], None]) -> None:
        threading.Thread(target=work, daemon=True).start()

    def _requests(self, client: socket.socket, server: socket.socket) -> None:
        """Pass on what the client sends, harmed or not. A harm stays with its connection."""
        harm = None
        twin: socket.socket | None = None
        with contextlib.suppress(OSError):
            while data := client.recv(CHUNK):
                if harm is None and self.harm and self._chance.random() < self.share:
                    harm = self._chance.choice(self.harm)
                    self.done.append(harm)
                if harm == "drop":
                    continue
                if harm == "cut":
                    break
                if harm == "delay":
                    time.sleep(self._chance.uniform(0, 0.3))
                if harm == "duplicate":
                    twin = twin or self._twin()
                    twin.sendall(data)
                server.sendall(data)
                if harm == "lose":
                    time.sleep(0.2)  # time for the server to do what it is asked
                    break
        for each in (client, server, twin):
            if each is not None:
                _cut(each)

    def _twin(self) -> socket.socket:
        """A connection on which the same is asked, and whose answers nobody reads but to make room."""
        twin = self._connected()

        def swallow() -> None:
            with contextlib.suppress(OSError):
                while twin.recv(CHUNK):
                    pass

        self._start(swallow)
        return twin

    def _answers(self, client: socket.socket, server: socket.socket) -> None:
        with contextlib.suppress(OSError):  # the other direction may have been cut already
            server.settimeout(None)
            while data := server.recv(CHUNK):
                client.sendall(data)
        for each in (client, server):
            _cut(each)


def _cut(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
    connection.close()


OLD = [document("old", "An old flood.", "A river.")]
NEWS = list(random_documents(0, 120, seed=7))


@pytest.fixture
def make_requests_small_and_fast(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many small requests, short waits."""
    monkeypatch.setattr(actions, "CHUNK_SENTENCES", 25)
    monkeypatch.setattr(bulk, "FIRST_WAIT", 0.05)
    monkeypatch.setattr(requests, "LONGEST_WAIT", 0.3)


@contextmanager
def through_a_proxy(where: str, seed: int) -> Iterator[tuple[Proxy, str]]:
    """The proxy, and the same location behind it."""
    parts = urlsplit(where)
    with Proxy(parts.hostname or "", parts.port or 9200, seed) as proxy:
        yield proxy, f"{proxy.url}{parts.path}"


def retry(work: Callable[[], Any], proxy: Proxy, tries: int = 12) -> list[str]:
    """Work until it succeeds. Returns the error messages.

    Each try waits longer for an answer than the one before: a busy machine can need it. Before the last try
    the network recovers, and that try has the usual time.
    """
    errors = []
    for turn in range(tries):
        with pytest.MonkeyPatch.context() as patch:
            if turn == tries - 1:
                proxy.harm = ()
            else:
                for module in (writer, delivery):
                    patch.setattr(module, "LOAD_TIMEOUT", 2 + turn)
                patch.setattr(delivery_parts, "ANSWER_SECONDS", 2 + turn)
            try:
                work()
                return errors
            except EsrError as error:
                errors.append(str(error))
    raise AssertionError(errors)


def expected_contents(where: str, documents: list[Any]) -> Any:
    """The contents after a load without faults."""
    reference = f"{where}-right"
    load(reference, documents)
    return index_contents(reference)


@pytest.mark.elasticsearch
@pytest.mark.endurance
@pytest.mark.usefixtures("make_requests_small_and_fast")
@pytest.mark.parametrize("harm", [*(pytest.param(harm, marks=only_long) for harm in HARMS), "all"])
def test_a_bad_network_loses_nothing_of_a_load(where: str, harm: str) -> None:
    expected = expected_contents(where, NEWS)
    load(where, OLD)
    old = index_contents(where)
    with through_a_proxy(where, seed=len(harm)) as (proxy, faulty_location):
        proxy.harm, proxy.share = HARMS if harm == "all" else (harm,), 0.05 if harm == "drop" else 0.2

        def work() -> None:
            try:
                load(faulty_location, NEWS, if_exists="replace", resume=True)
            except EsrError:
                assert index_contents(where) in (old, expected)
                raise

        errors = retry(work, proxy)
        assert proxy.done, "the network was never bad"
    assert all(faulty_location.rpartition("/")[0] in error for error in errors), errors
    assert index_contents(where) == expected
    with closing(open_generations(where)) as generations:
        assert "broken" not in {generation.state for generation in generations.all()}


@pytest.mark.elasticsearch
@pytest.mark.endurance
@pytest.mark.usefixtures("make_requests_small_and_fast")
@pytest.mark.parametrize("seed", range(3) if IS_LONG else range(1))
def test_a_bad_network_loses_nothing_of_a_delivery(where: str, seed: int) -> None:
    delivered = [document("came", "A flood at the bank.", "Flood."), document(NEWS[0].id, "Changed.")]
    load(where, NEWS)
    reference = f"{where}-right"
    load(reference, NEWS)
    delivery_to(reference, LoadOptions()).append(located(delivered))
    old, expected = index_contents(where), index_contents(reference)
    with through_a_proxy(where, seed) as (proxy, faulty_location):
        proxy.harm, proxy.share = ("cut", "lose", "duplicate", "delay"), 0.3

        def work() -> None:
            try:
                delivery_to(faulty_location, LoadOptions(keep=0)).append(located(delivered))
            except EsrError:
                assert index_contents(where) in (old, expected)
                raise

        retry(work, proxy)
        assert proxy.done
    assert index_contents(where) == expected


@pytest.mark.elasticsearch
@pytest.mark.endurance
@pytest.mark.usefixtures("make_requests_small_and_fast")
def test_a_bad_network_never_makes_a_search_lie(where: str) -> None:
    load(where, NEWS)
    with open_searcher(where) as searcher:
        expected = [(hit.sentence_id, hit.score) for hit in searcher.search("flood bank", 20).hits]
    with (
        through_a_proxy(where, seed=1) as (proxy, faulty_location),
        open_searcher(faulty_location) as searcher,
    ):
        proxy.harm, proxy.share = ("cut", "lose", "duplicate", "delay"), 0.1
        complete_answers = searches = 0
        while searches < 60 or not set(proxy.done) >= {"cut", "lose"}:
            searches += 1
            try:
                answer = searcher.search("flood bank", 20)
            except EngineUnreachable:
                continue
            assert [(hit.sentence_id, hit.score) for hit in answer.hits] == expected
            complete_answers += answer.incomplete is None
    assert complete_answers > 5 / 6 * searches


@pytest.mark.elasticsearch
@pytest.mark.endurance
@pytest.mark.usefixtures("make_requests_small_and_fast")
def test_a_switch_whose_answer_is_lost_succeeds(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The aliases have moved, but the client does not know and asks again: there is nothing to move."""
    client = type(Elasticsearch("http://localhost:9200").indices)
    real = client.update_aliases

    def update_twice(self: Any, **arguments: Any) -> Any:
        real(self, **arguments)
        return real(self, **arguments)

    load(where, OLD)
    monkeypatch.setattr(client, "update_aliases", update_twice)
    load(where, NEWS, if_exists="replace")
    delivery_to(where, LoadOptions()).append(located([document("came", "Flood.")]))
    monkeypatch.undo()
    with open_searcher(where) as searcher:
        assert searcher.index.status(Summary())["documents"] == len(NEWS) + 1


@pytest.mark.elasticsearch
@pytest.mark.endurance
@pytest.mark.usefixtures("make_requests_small_and_fast")
def test_a_delivery_whose_switch_is_not_answered_keeps_its_indices(
    where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody knows whether the aliases will still move: what they may lead to must not be deleted."""
    load(where, NEWS)
    real = delivery.serve

    def serve_without_answer(*arguments: Any, **options: Any) -> None:
        real(*arguments, **options)
        raise EngineUnreachable("no answer")

    monkeypatch.setattr(delivery, "serve", serve_without_answer)
    with pytest.raises(EngineUnreachable, match="no answer"):
        delivery_to(where, LoadOptions()).append(located([document("came", "Flood.")]))
    with open_searcher(where) as searcher:
        assert searcher.index.status(Summary())["documents"] == len(NEWS) + 1


BLOCKS = {
    "index.blocks.write": "writes to it were blocked: remove",
    "index.blocks.read_only": "it was set read-only: remove",
}


@pytest.mark.elasticsearch
@pytest.mark.endurance
@pytest.mark.usefixtures("make_requests_small_and_fast")
@pytest.mark.parametrize("block", BLOCKS)
def test_a_block_during_a_load_says_what_to_do_and_the_load_can_be_resumed(
    where: str, monkeypatch: pytest.MonkeyPatch, block: str
) -> None:
    expected = expected_contents(where, NEWS)
    url, _, alias = where.rpartition("/")
    load(where, OLD)
    served = {name for name in indices(url, alias) if "-right" not in name}
    new_indices: list[str] = []

    def block_new_indices(documents: int, of: int) -> None:
        if not new_indices:
            created = {name for name in indices(url, alias) if "-right" not in name} - served
            new_indices.extend(created)
            for name in new_indices:
                http("PUT", f"{url}/{name}/_settings", {block: True})

    with pytest.raises(EngineUnreachable, match=f"accepts no writes: .*; {BLOCKS[block]}.*--resume"):
        load(where, NEWS, if_exists="replace", on_progress=block_new_indices)
    for name in new_indices:
        http("PUT", f"{url}/{name}/_settings", {block: None})
    load(where, NEWS, if_exists="replace", resume=True)
    assert index_contents(where) == expected
    assert set(new_indices) < set(indices(url, alias)), "the load was resumed, not started again"


@pytest.mark.elasticsearch
@pytest.mark.endurance
@pytest.mark.usefixtures("make_requests_small_and_fast")
def test_a_changed_mapping_names_the_field_and_switches_nothing(where: str) -> None:
    """Another template, which takes precedence, says that titles are numbers."""
    url, _, alias = where.rpartition("/")
    load(where, OLD)
    old = index_contents(where)
    other = deepcopy(resources.load_json("indices/esr-sentences.json"))
    other |= {"index_patterns": [f"{alias}-*-esr-sentences"], "priority": 900}
    other["template"]["mappings"]["properties"]["title"] = {"type": "integer", "index": True}
    named = [document("d1", "A flood.", title="No number")]
    http("PUT", f"{url}/_index_template/{alias}", other)
    try:
        with pytest.raises(
            EsrError, match=r"nothing was switched: .*failed to parse field \[title\]"
        ) as raised:
            load(where, named, if_exists="replace")
        assert "index template" in str(raised.value)
    finally:
        http("DELETE", f"{url}/_index_template/{alias}")
    assert index_contents(where) == old
    load(where, named, if_exists="replace")


@pytest.mark.elasticsearch
@pytest.mark.endurance
@pytest.mark.usefixtures("make_requests_small_and_fast")
def test_a_full_disk_is_named_at_once_and_nothing_changes(
    start_elasticsearch: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By its settings, no disk has enough free space for the node, until they are reset.

    A share of the disk would not do: a large disk may be as good as empty.
    """
    node = start_elasticsearch(settings={"cluster.routing.allocation.disk.threshold_enabled": True,
                                         "cluster.info.update.interval": "10s"})  # fmt: skip
    where = f"{node.url}/news"
    expected = expected_contents(where, NEWS)
    load(where, OLD)

    load(where, OLD, if_exists="replace")
    old = index_contents(where)

    def set_disk_space(has_space: bool) -> None:
        levels = ("low", "high", "flood_stage")
        names = [f"cluster.routing.allocation.disk.watermark.{level}" for level in levels]
        settings = dict.fromkeys(names, None if has_space else "1000tb")
        http("PUT", f"{node.url}/_cluster/settings", {"persistent": settings})
        deadline = time.monotonic() + 180
        while time.monotonic() < deadline:
            index_settings = http("GET", f"{node.url}/news*/_settings?flat_settings=true")
            blocked = [
                "index.blocks.read_only_allow_delete" in entry["settings"]
                for entry in index_settings.values()
            ]
            if blocked and (not any(blocked) if has_space else any(blocked)):
                return
            time.sleep(0.5)
        raise AssertionError("the node did not check its disk")

    disk_filled: list[bool] = []

    def fill_disk(documents: int, of: int) -> None:
        if not disk_filled:
            disk_filled.append(True)
            set_disk_space(False)

    def refuse_retry(cluster: object, attempt: int) -> None:
        raise AssertionError("what was written is sent again")

    monkeypatch.setattr(bulk, "back_off", refuse_retry)
    with pytest.raises(EngineUnreachable, match=r"flood-stage.*; its disk is full: free space.*--resume"):
        load(where, NEWS, if_exists="replace", on_progress=fill_disk)
    before = indices(node.url, "news")
    for write in (
        lambda: delivery_to(where, LoadOptions()).append(located(NEWS)),
        lambda: load(where, NEWS, if_exists="replace"),
        lambda: load(where, NEWS, if_exists="append"),
        lambda: load(f"{node.url}/first", NEWS),
    ):
        with pytest.raises(EsrError, match=r"no disk .* has room for a new index: free space.*is unchanged"):
            write()
    assert indices(node.url, "news") == before and not indices(node.url, "first")
    assert index_contents(where) == old, "the served index can still be searched"
    with closing(open_generations(where)) as generations:
        (kept,) = [generation.name for generation in generations.all() if generation.state == "kept"]
        generations.delete([kept])
    assert len(indices(node.url, "news")) == len(before) - 2
    set_disk_space(True)
    load(where, NEWS, if_exists="replace", resume=True)
    assert index_contents(where) == expected
