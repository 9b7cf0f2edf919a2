"""The connection of a process to a cluster: its clients, their timeouts, and which node they ask."""

from __future__ import annotations

import itertools
import math
import os
import random
import threading
import time
from collections.abc import Callable, Sequence
from threading import Event
from typing import Any, NamedTuple

import msgspec
from elastic_transport import (
    BaseNode,
    NodeConfig,
    NodeSelector,
    SerializationError,
    TransportApiResponse,
)
from elasticsearch import Elasticsearch
from elasticsearch.serializer import JsonSerializer

from esr.elastic.dialect import ELASTICSEARCH, Dialect, ServerTransport
from esr.elastic.location import documents_index, parse_location, sentences_index
from esr.elastic.login import BUSY, DISK_FULL, ErrorTranslator, Login
from esr.stdlib import read_json


class AliasTargets(NamedTuple):
    """The indices behind both aliases, as sorted names joined by commas."""

    sentences: str
    documents: str

    @property
    def newest(self) -> str:
        """The newest index of sentences, by the start time of the load at the end of its name."""
        return max(self.sentences.split(","))

    @property
    def loads(self) -> set[str]:
        """The indices of sentences of all loads behind either alias."""
        names = ",".join(self).split(",")
        return {sentences_index(name) for name in names if name}

    @property
    def missing(self) -> tuple[str, ...]:
        """The indices of these loads that neither alias points to."""
        names = {*",".join(self).split(",")}
        pairs = ((index, documents_index(index)) for index in sorted(self.loads))
        return tuple(name for pair in pairs for name in pair if name not in names)

    @property
    def intact(self) -> AliasTargets:
        """The indices of the loads both of whose indices are behind the aliases."""
        names = {*",".join(self).split(",")}
        whole = sorted(index for index in self.loads if {index, documents_index(index)} <= names)
        return AliasTargets(",".join(whole), ",".join(map(documents_index, whole)))


class ConfirmedNodes(threading.local):
    """The node that last reported the targets of the aliases, and its report. Each thread has its own."""

    node: NodeConfig | None = None
    targets: AliasTargets | None = None

    def confirm(self, node: NodeConfig, targets: AliasTargets) -> None:
        self.node, self.targets = node, targets

    def knows(self, node: NodeConfig, targets: AliasTargets) -> bool:
        """Whether this node has reported these indices, or newer ones, behind the aliases."""
        known = self.targets
        if known is None or node != self.node:
            return False
        return known == targets or known.newest > targets.newest


class StickyNodeSelector(NodeSelector):
    """Keeps each thread on one node until that node fails or the thread switches to the next.

    An answer from a node with an old state (see the module) is out of date, but consistent. Combined with an
    alias that was looked up on another node, it is wrong. So related requests go to one node.
    """

    def __init__(self, node_configs: list[NodeConfig]) -> None:
        super().__init__(node_configs)
        self._thread = threading.local()
        self._counter = itertools.count()

    def switch(self) -> None:
        """Move this thread to the next node."""
        self._thread.node = None

    def select(self, nodes: Sequence[BaseNode]) -> BaseNode:
        node: BaseNode | None = getattr(self._thread, "node", None)
        if node is None or node not in nodes:
            node = nodes[next(self._counter) % len(nodes)]
            self._thread.node = node
        return node


class FastJsonSerializer(JsonSerializer):
    """Encodes requests in a fifth, and parses answers in less than half, of the time of Python's json."""

    def json_dumps(self, data: Any) -> bytes:
        try:
            return msgspec.json.encode(data)
        except (TypeError, UnicodeEncodeError):  # for example half a surrogate pair
            return super().json_dumps(data)

    def json_loads(self, data: bytes) -> Any:
        return read_json(data)

    def loads(self, data: bytes) -> Any:
        """Parse an answer. A page that a proxy sends as JSON is its text, like any other page."""
        try:
            return super().loads(data)
        except SerializationError:
            if data.lstrip()[:1] in (b"{", b"["):  # a damaged answer
                raise
            return data.decode("utf-8", "replace")


class PatientTransport(ServerTransport):
    """The transport of writers. It waits while a server, or a proxy in front of it, is not ready.

    The client repeats a request at once, which is too soon for a proxy that starts again. The sender of bulk
    requests repeats them itself.
    """

    waits: tuple[float, ...] = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
    """Seconds before each repetition, on average."""

    def perform_request(self, method: str, target: str, **options: Any) -> TransportApiResponse:
        for wait in self.waits if options.get("max_retries") != 0 else ():
            answer = super().perform_request(method, target, **options)
            if answer.meta.status not in BUSY or DISK_FULL in str(answer.body):
                return answer
            time.sleep(random.uniform(0.5, 1.5) * wait)
        return super().perform_request(method, target, **options)


class ProcessClients:
    """The client of this process. After a fork, the new process gets its own client.

    Two processes with the same sockets would get each other's answers.
    """

    def __init__(self, connect: Callable[[], Elasticsearch]) -> None:
        self._connect = connect
        self._of_process = os.getpid(), connect()
        self._limited: dict[tuple[int, float], Elasticsearch] = {}
        """Clients with other timeouts, by process and seconds. Creating one takes half a millisecond."""

    @property
    def client(self) -> Elasticsearch:
        process, client = self._of_process
        if process == os.getpid():
            return client
        self._of_process = os.getpid(), self._connect()
        return self._of_process[1]

    def client_within(self, seconds: float) -> Elasticsearch:
        """The client with this timeout, rounded down to tenths of a second."""
        seconds = math.floor(10 * seconds) / 10 or seconds
        key = os.getpid(), seconds
        client = self._limited.get(key)
        if client is None:
            client = self.client.options(request_timeout=seconds)
            if len(self._limited) >= _MAX_LIMITED_CLIENTS:
                self._limited.clear()
            self._limited[key] = client
        return client


SEARCH_TIMEOUT = 20
"""Seconds that Elasticsearch may search before it returns a partial answer, which esr reports as such."""
REQUEST_TIMEOUT = SEARCH_TIMEOUT + 10
"""Seconds to wait for any answer to a search. A hanging server is not asked again."""
LOAD_TIMEOUT = 120
"""Seconds to wait for an answer to a request of a load."""
_MAX_LIMITED_CLIENTS = 400
_MAX_ATTEMPTS = 3
"""Maximum number of nodes that are tried within the time of one request."""


class Connection:
    """The client for the servers of a location. A cluster shares it with those pinned to its indices.

    Several hosts are nodes of one cluster: if one does not answer a request, another is tried. A location
    without a login uses that of the environment (`Login`).
    """

    def __init__(self, where: str, request_timeout: float) -> None:
        location = parse_location(where)
        urls = [f"{location.scheme}://{host}{location.path}" for host in location.hosts]
        self.url: str = f"{location.scheme}://{','.join(location.hosts)}{location.path}"
        self.where: str = f"{self.url}/{location.alias}"
        self.aliases: AliasTargets = AliasTargets(location.alias, f"{location.alias}-documents")
        login = Login.resolve(location.login)
        self.translator: ErrorTranslator = ErrorTranslator(
            self.url, self.where, login, lambda: self.dialect or ELASTICSEARCH
        )
        self.attempts: int = min(len(urls), _MAX_ATTEMPTS)
        self.timeout = request_timeout
        self.confirmed: ConfirmedNodes = ConfirmedNodes()
        self.closed: Event = Event()
        options = login.client_options(self.url)
        self._clients = ProcessClients(
            lambda: Elasticsearch(
                urls,
                **options,
                request_timeout=request_timeout / self.attempts,
                max_retries=max(3, len(urls)),
                retry_on_timeout=self.attempts > 1,
                retry_on_status=BUSY,
                transport_class=PatientTransport if request_timeout >= LOAD_TIMEOUT else ServerTransport,
                node_selector_class=StickyNodeSelector,
                serializer=FastJsonSerializer(),
            )
        )

    @property
    def client(self) -> Elasticsearch:
        return self._clients.client

    def client_within(self, seconds: float) -> Elasticsearch:
        """The client that waits for an answer no longer than this."""
        return self._clients.client_within(seconds)

    @property
    def dialect(self) -> Dialect | None:
        """The dialect of the server, None before its first answer."""
        transport = self.client.transport
        assert isinstance(transport, ServerTransport)
        return transport.dialect
